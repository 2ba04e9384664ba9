"""Decoding, chains, and the small things: routes that answer at once."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from .._version import __version__
from ..gestures.data import Layout
from . import _schemas as schemas
from ._limits import POINTS, PROGRAM_CHARACTERS, STAGES, STATES
from ._workers import Pool

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.ErrorAnswer, "description": description}
    for status, description in {
        400: "Not JSON.",
        403: "From another site.",
        413: "Too large.",
        415: "Not sent as `application/json`.",
        421: "Not a name of this server.",
        422: "Not what this takes; the message says why.",
        500: "The worker failed; the message says what is known.",
        503: "Busy: come back after `Retry-After` seconds.",
        504: "Not done within the time limit.",
    }.items()
}

decoding = APIRouter(prefix="/api", tags=["swipe"], responses=PROBLEMS)
chains = APIRouter(prefix="/api", tags=["chains"], responses=PROBLEMS)
overview = APIRouter(prefix="/api", tags=["server"], responses=PROBLEMS)


def pool(request: Request, name: str) -> Pool:
    return request.app.state.pools[name]


async def answer(request: Request, kind: str, task: str, given: Any) -> dict[str, Any]:
    """Have a worker do it; if the client goes away first, nobody does."""
    payload = {"task": task, **given.model_dump()}
    job = pool(request, kind).submit(payload, request.app.state.limits.quick_seconds)
    gone = asyncio.create_task(_gone(request))
    done = asyncio.create_task(job.finished())
    try:
        await asyncio.wait({gone, done}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        job.cancel()  # does nothing once it has ended
        gone.cancel()
        done.cancel()
    if job.state == "done" and job.result is not None:
        return job.result
    status = {"refused": 422, "late": 504}.get(job.state, 500)
    raise HTTPException(status, (job.error or {}).get("message", "failed"))


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@decoding.post("/decode")
async def decode(given: schemas.DecodeRequest, request: Request) -> schemas.DecodeAnswer:
    """The likeliest words of a swipe, with their posterior probabilities."""
    return schemas.DecodeAnswer(**await answer(request, "decode", "decode", given))


@decoding.post("/adapt")
async def adapt(given: schemas.AdaptRequest, request: Request) -> schemas.AdaptAnswer:
    """What a confirmed word tells of the person's hand: to be kept, and sent with the next."""
    return schemas.AdaptAnswer(**await answer(request, "decode", "adapt", given))


@decoding.post("/tours")
async def tours(given: schemas.ToursRequest, request: Request) -> schemas.ToursAnswer:
    """The decoder's chain over words at work: each step, and where it restarted."""
    return schemas.ToursAnswer(**await answer(request, "decode", "tours", given))


@decoding.get("/keyboard")
async def keyboard() -> schemas.KeyboardLayout:
    """The keyboard on which the page swipes."""
    return schemas.KeyboardLayout(**Layout.qwerty().to_json())


@chains.post("/chain")
async def chain(given: schemas.ChainRequest, request: Request) -> schemas.ChainAnswer:
    """What restarts make of a small chain A: laws, gaps, divergences, certificate."""
    return schemas.ChainAnswer(**await answer(request, "chains", "chain", given))


@chains.post("/certify")
async def certify(given: schemas.CertifyRequest, request: Request) -> schemas.CertificateAnswer:
    """What a schedule of stages guarantees for every chain that it drives."""
    return schemas.CertificateAnswer(**await answer(request, "chains", "certify", given))


@overview.get("/health")
async def health(request: Request) -> schemas.Health:
    """The server is up; what its workers do."""
    pools = {
        name: schemas.PoolHealth(
            ready=one.ready,
            doing=None if one.ready else one.doing,
            workers=len(one.processes),
            wanted=one.size,
            waiting=one.waiting,
            unavailable=one.unavailable,
        )
        for name, one in request.app.state.pools.items()
    }
    return schemas.Health(version=__version__, pools=pools)


@overview.get("/ready", responses={503: {"model": schemas.Readiness, "description": "Not yet."}})
async def ready(request: Request, response: Response) -> schemas.Readiness:
    """Would everything that comes now be worked on at once? Status 200 if so, else 503."""
    pools: dict[str, Pool] = request.app.state.pools
    awaited = [n for n, one in pools.items() if not (one.ready or one.unavailable)]
    if awaited:
        response.status_code = 503
        response.headers["Retry-After"] = "1"
    return schemas.Readiness(ready=not awaited, waiting_for=awaited)


@overview.get("/limits")
async def limits(request: Request) -> schemas.LimitsAnswer:
    """How much is taken on."""
    return schemas.LimitsAnswer(
        verify_seconds=request.app.state.limits.verify_seconds,
        program_characters=PROGRAM_CHARACTERS,
        points=POINTS,
        states=STATES,
        stages=STAGES,
    )
