"""Proofs: started, followed, cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from . import _schemas as schemas
from ._api import PROBLEMS, pool
from ._jobs import Job

# A program that cannot be read is refused at once if a worker is free to look at it in this time.
_FIRST_LOOK = 0.5
# Who closes the page wants no answer; who merely reconnects comes back sooner: we ask for that,
# since a browser would wait for as long by itself.
_ABANDONED = 3.0
_RECONNECT = 0.5
# A proof keeps its time by itself; on a busy machine it may see late that it is over.
_GRACE = 3.0

_Responses = dict[int | str, dict[str, Any]]
_MISSING: _Responses = {
    404: {"model": schemas.ErrorAnswer, "description": "There is no such job (any more)."}
}
_STREAM: _Responses = {
    200: {
        "description": "Server-sent events, numbered; the last is `end`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]

proofs = APIRouter(prefix="/api", tags=["verify"], responses=PROBLEMS)


class Proofs:
    """The jobs that clients may still ask about: all that run, and the last few that ended."""

    def __init__(self, kept: int):
        self._jobs: dict[str, Job] = {}
        self._kept = kept

    def add(self, job: Job) -> None:
        self._jobs[job.id] = job
        ended = [job.id for job in self._jobs.values() if job.final]
        for old in ended[: max(0, len(ended) - self._kept)]:
            del self._jobs[old]

    def find(self, id: str) -> Job:
        job = self._jobs.get(id)
        if job is None:
            raise HTTPException(404, f"there is no job {id} (results are kept for a while only)")
        return job


@proofs.post("/verify", status_code=202)
async def start(given: schemas.VerifyRequest, request: Request) -> schemas.VerifyJob:
    """Start a proof. Follow it at `/api/verify/{id}/events`, or ask for `/api/verify/{id}`."""
    limits = request.app.state.limits
    payload = given.model_dump()
    payload["timeout"] = min(given.timeout, limits.verify_seconds)
    job = pool(request, "verify").submit(payload, payload["timeout"] + _GRACE)
    request.app.state.proofs.add(job)
    try:
        async with asyncio.timeout(_FIRST_LOOK):
            while job.state == "running" and not any(news.event == "parsed" for news in job.news):
                await job.changed()
    except TimeoutError:
        pass
    if job.state == "refused":
        raise Refused(job)
    return _view(job)


class Refused(Exception):
    """The program cannot be read."""

    def __init__(self, job: Job):
        super().__init__()
        self.problem = schemas.problem_of(job.error)


@proofs.get("/verify/{id}", responses=_MISSING)
async def result(id: JobId, request: Request) -> schemas.VerifyJob:
    """How a proof stands; with its verdict once there is one."""
    return _view(request.app.state.proofs.find(id))


@proofs.delete("/verify/{id}", status_code=204, responses=_MISSING)
async def cancel(id: JobId, request: Request) -> Response:
    """Stop it now."""
    request.app.state.proofs.find(id).cancel()
    return Response(status_code=204)


@proofs.get("/verify/{id}/events", responses=_MISSING | _STREAM, response_class=StreamingResponse)
async def events(
    id: JobId, request: Request, last_event_id: Annotated[str | None, Header()] = None
) -> StreamingResponse:
    """The search, live.

    Events: `started`, `parsed`, `preparing`, `prepared`, `lemmas`, `products`, `round` (with
    examples, candidate and restarts), and `end` with the whole job. When the last listener leaves,
    the proof is cancelled.
    """
    job: Job = request.app.state.proofs.find(id)
    given = last_event_id or ""
    after = int(given) + 1 if given.isascii() and given.isdigit() and len(given) < 10 else 0

    async def stream() -> AsyncIterator[str]:
        job.hear()
        try:
            yield f"retry: {1000 * _RECONNECT:.0f}\n\n"
            async for number, news in job.listen(min(after, len(job.news))):
                data = news.data
                if news.event == "end":
                    data = _view(job).model_dump()
                yield f"id: {number}\nevent: {news.event}\ndata: {json.dumps(data)}\n\n"
        finally:
            job.leave(_ABANDONED)

    return StreamingResponse(stream(), media_type="text/event-stream")


def _view(job: Job) -> schemas.VerifyJob:
    return schemas.VerifyJob(
        id=job.id,
        state=job.state,
        result=schemas.Verdict(**job.result) if job.result is not None else None,
        error=schemas.problem_of(job.error) if job.error is not None else None,
    )


@proofs.get("/examples")
async def examples() -> schemas.Examples:
    """Small programs to try."""
    from ..programs.examples import example, names

    return schemas.Examples(
        examples=[schemas.Example(name=name, program=example(name)) for name in names()]
    )
