"""The application: pools of workers, the API, the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from .._version import __version__
from ._api import chains, decoding, overview
from ._limits import Limits
from ._problems import answer_problems
from ._proofs import Proofs, proofs
from ._safety import Guard
from ._workers import Pool

_STATIC = Path(str(resources.files("doeblin.serve").joinpath("static")))
_ABOUT = (
    "Everything that the page does, for programs. Requests and answers are JSON; a problem is "
    'answered with a status of 4xx or 5xx and `{"error": {"message": …}}`.'
)


def create_app(
    limits: Limits | None = None, *, loopback: bool = True, names: Sequence[str] = ()
) -> FastAPI:
    """The ASGI application.

    It answers to `localhost`, to the `names` given and, unless `loopback`, to plain addresses; to
    nothing else, so that no page elsewhere can make its own name point here.
    """
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
    app.add_middleware(Guard, loopback=loopback, names=names)
    routers = (decoding, proofs, chains, overview)
    for router in routers:
        app.include_router(router)
    answer_problems(app, [route for router in routers for route in router.routes])

    @app.get("/api", include_in_schema=False)
    async def reference() -> FileResponse:
        return FileResponse(_STATIC / "api.html")

    # A browser asks for this where nothing names an icon, as for an answer in JSON.
    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> FileResponse:
        return FileResponse(_STATIC / "favicon.svg")

    app.mount("/", StaticFiles(directory=_STATIC, html=True))
    return app
