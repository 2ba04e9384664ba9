"""JSON that others wrote: its values, or plain words about what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ._errors import InputError
from ._text import shortened

_written: ContextVar[bool] = ContextVar("written", default=False)


class Written(float):
    """A number that remembers how it was written: 1e400 is no other than 1e999, but for that."""

    text: str

    def __new__(cls, text: str) -> Written:
        number = super().__new__(cls, text)
        number.text = text
        return number


@contextmanager
def as_written() -> Iterator[None]:
    """Within, messages show values as a file has them: null and not None, 1e400 and not inf."""
    token = _written.set(True)
    try:
        yield
    finally:
        _written.reset(token)


def parsed(source: str, *, once: bool = False) -> Any:
    """The value of a JSON text; with `once`, an object has no field twice."""
    options: dict[str, Any] = {"parse_float": Written} if _written.get() else {}
    if once:
        options["object_pairs_hook"] = _fields
    try:
        return json.loads(source, **options)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON ({error.msg})") from None
    except RecursionError:
        raise InputError("not JSON (nested too deeply)") from None
    except InputError:
        raise
    except ValueError:
        raise InputError("not JSON that can be read: a number has thousands of digits") from None


def shown(value: Any) -> str:
    """A value for a message, not too long."""
    if isinstance(value, Written):
        return shortened(value.text)
    plain = isinstance(value, str) or not _written.get()
    try:
        return shortened(repr(value) if plain else json.dumps(value, ensure_ascii=False))
    except ValueError:  # Python writes no whole number of more than some thousand digits.
        return "a number of thousands of digits"


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"the field {shown(name)} is there twice")
        found[name] = value
    return found
