"""A job: queued, running, then done, refused, failed, late or cancelled; its news for listeners."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, NamedTuple

State = Literal["queued", "running", "done", "refused", "failed", "late", "cancelled"]
FINAL: tuple[State, ...] = ("done", "refused", "failed", "late", "cancelled")


class News(NamedTuple):
    """Something that a job has to tell."""

    event: str
    data: dict[str, Any]


class Job:
    """One piece of work and what has become of it."""

    def __init__(self, payload: dict[str, Any], seconds: float):
        self.id = secrets.token_hex(16)
        self.payload = payload
        self.seconds = seconds
        self.state: State = "queued"
        self.result: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.news: list[News] = []
        self.listeners = 0
        self.on_cancel: Callable[[], None] = lambda: None
        self.patience: asyncio.TimerHandle | None = None
        """Ends the waiting for a worker."""
        self._left: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()

    @property
    def final(self) -> bool:
        return self.state in FINAL

    def tell(self, event: str, data: dict[str, Any]) -> None:
        """Pass on what the worker says while it works."""
        if not self.final:
            self.news.append(News(event, data))
            self._wake()

    def started(self) -> None:
        self._stop_waiting()
        self.state = "running"
        self.tell("started", {})

    def end(
        self,
        state: State,
        *,
        result: dict[str, Any] | None = None,
        error: dict[str, Any] | None = None,
    ) -> None:
        """The first end counts: what a cancelled worker still says is not heard."""
        if self.final:
            return
        self._stop_waiting()
        self.state, self.result, self.error = state, result, error
        self.news.append(News("end", {"state": state}))
        self._wake()

    def cancel(self) -> None:
        """End now, whatever the worker is doing."""
        if not self.final:
            self.end("cancelled", error={"message": "cancelled"})
            self.on_cancel()

    def hear(self) -> None:
        """Somebody listens from now on."""
        self.listeners += 1
        if self._left is not None:
            self._left.cancel()
            self._left = None

    def leave(self, patience: float) -> None:
        """A listener goes. The job is cancelled if none comes back for so many seconds."""
        self.listeners -= 1
        if not (self.listeners or self.final):
            self._left = asyncio.get_running_loop().call_later(patience, self.cancel)

    def _stop_waiting(self) -> None:
        if self.patience is not None:
            self.patience.cancel()  # a timer that is left would keep the job in memory
            self.patience = None

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        await self._changed.wait()

    async def finished(self) -> Job:
        while not self.final:
            await self.changed()
        return self

    async def listen(self, after: int = 0) -> AsyncIterator[tuple[int, News]]:
        """News from number `after` on, until the end."""
        while True:
            while after < len(self.news):
                yield after, self.news[after]
                after += 1
            if self.final:
                return
            await self.changed()
