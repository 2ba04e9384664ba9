"""The application: pools of workers, the API, the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from .._version import __version__
from ._api import chains, decoding, overview
from ._limits import Limits
from ._proofs import Proofs, Refused, proofs
from ._safety import Guard
from ._workers import Busy, Pool, Unavailable

_STATIC = Path(str(resources.files("doeblin.serve").joinpath("static")))
_ABOUT = (
    "Everything that the page does, for programs. Requests and answers are JSON; a problem is "
    'answered with a status of 4xx or 5xx and `{"error": {"message": …}}`.'
)


def create_app(limits: Limits | None = None, *, loopback: bool = True) -> FastAPI:
    """The ASGI application. `loopback`: answer only to names of this machine."""
    limits = limits or Limits()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        common: dict[str, Any] = {
            "memory_mb": limits.memory_mb,
            "patience": limits.patience_seconds,
        }
        app.state.limits = limits
        app.state.pools = {
            "chains": Pool("chains", 1, queue=limits.quick_queue, **common),
            "decode": Pool("decode", limits.jobs, queue=limits.quick_queue, **common),
            "verify": Pool("verify", limits.jobs, queue=limits.verify_queue, **common),
        }
        app.state.proofs = Proofs(limits.kept_results)
        for pool in app.state.pools.values():
            pool.open()
        try:
            yield
        finally:
            for pool in app.state.pools.values():
                await pool.close()

    app = FastAPI(
        title="doeblin",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(Guard, loopback=loopback)
    for router in (decoding, proofs, chains, overview):
        app.include_router(router)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(Unavailable, _unavailable)
    app.add_exception_handler(Exception, _broken)

    @app.get("/api", include_in_schema=False)
    async def reference() -> FileResponse:
        return FileResponse(_STATIC / "api.html")

    app.mount("/", StaticFiles(directory=_STATIC, html=True))
    return app


# ---- problems, all in one form


def _problem(status: int, message: str, headers: Any = None) -> JSONResponse:
    body = {"error": {"message": message, "line": None, "column": None}}
    return JSONResponse(body, status, headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    if first["type"] == "json_invalid":
        return _problem(400, f"the body is not JSON: {first.get('ctx', {}).get('error', '')}")
    more = f" (and {len(error.errors()) - 1} more)" if len(error.errors()) > 1 else ""
    return _problem(422, f"{where or 'body'}: {first['msg']}{more}")


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
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
