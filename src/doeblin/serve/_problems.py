"""Problems, all in one form, and in words for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route

from ._proofs import Refused
from ._workers import Busy, Unavailable

_LONGEST_VALUE = 60
# By pydantic's names of errors; the braces are filled from the error's own context.
_SAYINGS = {
    "missing": "is missing",
    "extra_forbidden": "is not something that this request takes",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length} (has {actual_length})",
    "too_long": "takes at most {max_length}",
    "string_too_short": "must not be empty",
    "string_too_long": "may be at most {max_length} characters long",
    "string_pattern_mismatch": "is not of the form {pattern}",
    "string_type": "must be a text",
    "string_unicode": "has half of a character, which no file can hold",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "list_type": "must be a list",
    "model_type": "must be an object with fields",
    "model_attributes_type": "must be an object with fields",
    "dict_type": "must be an object with fields",
    "literal_error": "must be one of {expected}",
}
_WITHOUT_VALUE = (
    "missing", "extra_forbidden", "too_short", "too_long", "string_too_long", "string_unicode",
)  # fmt: skip


def answer_problems(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Have every problem answered with `{"error": {"message", "line", "column"}}`.

    `routes` are those of the API: one that is asked with a wrong method says what it takes.
    """
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, partial(_http, routes))
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(Unavailable, _unavailable)
    app.add_exception_handler(Exception, _broken)


def complaint(error: Mapping[str, Any]) -> str:
    """What pydantic found, for people: the field, its value, what it should be."""
    where = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"][1:]
    ).lstrip(".")
    kind = error["type"]
    saying = _SAYINGS.get(kind)
    if saying is None:
        text = f"cannot be used: {error['msg']}"
    else:
        text = saying.format(**error.get("ctx", {}))
    shown = "" if kind in _WITHOUT_VALUE or not where else f" = {_value(error.get('input'))}"
    return f"{where or 'the request'}{shown} {text}"


def _of_half(text: str) -> dict[str, int]:
    """Where the half of a character is, in lines and columns from one."""
    at = next(k for k, one in enumerate(text) if "\ud800" <= one <= "\udfff")
    before = text[:at].split("\n")
    return {"line": len(before), "column": len(before[-1]) + 1}


def _value(given: Any) -> str:
    text = json.dumps(given, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _problem(
    status: int, message: str, headers: Any = None, place: Mapping[str, int] | None = None
) -> JSONResponse:
    # What is quoted may have half of a character, which cannot be sent.
    sendable = message.encode(errors="backslashreplace").decode()
    body = {"error": {"message": sendable, "line": None, "column": None, **(place or {})}}
    return JSONResponse(body, status, headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first, *rest = error.errors()
    if isinstance(error.body, bytes):  # which was not read, for what it says to be
        kind = request.headers.get("content-type")
        is_what = "is missing, and" if kind is None else f"= {kind[:_LONGEST_VALUE]}"
        return _problem(415, f"Content-Type {is_what} must be application/json")
    if first["type"] == "json_invalid":
        return _problem(400, f"the body is not JSON: {first.get('ctx', {}).get('error', '')}")
    more = f" (and {len(rest)} more)" if rest else ""
    place = _of_half(first["input"]) if first["type"] == "string_unicode" else None
    return _problem(422, complaint(first) + more, place=place)


async def _http(routes: Sequence[BaseRoute], request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, RecursionError):
        return _problem(400, "the body is nested too deeply; nothing here takes more than 5 levels")
    if isinstance(error.__cause__, UnicodeDecodeError):
        return _problem(400, "the body is not JSON: it is not in UTF-8")
    # Whatever no route takes came to the page's files, which know neither path nor method.
    taken = {
        method
        for route in routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    if taken and request.method not in taken:
        allowed = ", ".join(sorted(taken))
        message = f"{request.url.path} does not take {request.method}; it takes {allowed}"
        return _problem(405, message, {"Allow": allowed})
    return _problem(error.status_code, str(error.detail), error.headers)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return JSONResponse({"error": error.problem.model_dump()}, 422)


async def _busy(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Busy)
    return _problem(503, str(error), {"Retry-After": str(error.seconds)})


async def _unavailable(request: Request, error: Exception) -> JSONResponse:
    return _problem(503, str(error), {"Retry-After": "60"})


async def _broken(request: Request, error: Exception) -> JSONResponse:
    return _problem(500, "the server made a mistake; it is in its log")
