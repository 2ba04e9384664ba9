"""Time and cancellation: one clock for a proof attempt, which also interrupts the solver."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import z3

from ..._compiling import clock as running


class OutOfTime(Exception):
    """The attempt must end now; the message is the reason to report."""


class Clock:
    """A deadline and a cancel flag. As a context manager it watches registered solver contexts
    and interrupts them when time is up, so that no query outlives the limit. It stands still while
    something is compiled."""

    def __init__(
        self, seconds: float, cancel: threading.Event | None = None, *, spent: float = 0.0
    ):
        self.limit = seconds
        self._start = running() - spent
        self._worked = time.thread_time()
        self._whole: Clock | None = None
        self._cancel = cancel or threading.Event()
        self._closed = threading.Event()
        self._contexts: list[z3.Context] = []
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> Clock:
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        if self._watcher is not None:
            self._watcher.join()

    def part(self, seconds: float, cancel: threading.Event | None = None) -> Clock:
        """A clock for a part of the time; it is over when this one is, or `cancel` is set."""
        either = _Either(cancel or threading.Event(), self)
        made = Clock(max(0.001, min(seconds, self.left)), either)
        made._whole = self
        return made

    def context(self) -> z3.Context:
        """A new solver context that this clock may interrupt."""
        made = z3.Context()
        self._contexts.append(made)
        return made

    @staticmethod
    def solver(context: z3.Context) -> Any:
        """An incremental solver that leaves Ctrl-C to Python; Z3 would take it for itself."""
        made = z3.SimpleSolver(ctx=context)
        made.set("ctrl_c", False)
        return made

    @contextlib.contextmanager
    def excused(self, least: float) -> Iterator[None]:
        """Work that is not the program's fault, such as the first compilation of the search.

        No limit ends it, and its seconds do not count unless they are fewer than `least`.
        """
        clocks: list[Clock] = [self]
        while (whole := clocks[-1]._whole) is not None:
            clocks.append(whole)
        limits, before = [clock.limit for clock in clocks], running()
        for clock in clocks:
            clock.limit = math.inf
        try:
            yield
        finally:
            used = running() - before
            for clock, limit in zip(clocks, limits, strict=True):
                clock.limit = limit
                clock._start += used if used >= least else 0.0

    @property
    def seconds(self) -> float:
        return running() - self._start

    @property
    def worked(self) -> float:
        """Processor seconds of the thread that made the clock, for that thread to ask; unlike
        `seconds`, they hardly depend on what else the machine does."""
        return time.thread_time() - self._worked

    @property
    def left(self) -> float:
        return self.limit - self.seconds

    @property
    def over(self) -> bool:
        return self._cancel.is_set() or self.left <= 0

    def tick(self) -> None:
        """Raise OutOfTime when the attempt must end."""
        if self._cancel.is_set():
            raise OutOfTime("cancelled")
        if self.left <= 0:
            raise OutOfTime(f"time limit of {self.limit:g} s reached")

    def _watch(self) -> None:
        while not self._closed.wait(min(0.02, max(self.left, 0.001))):
            if self.over:
                for context in list(self._contexts):
                    # The call reports errors of the interrupted thread; they are not its own.
                    with contextlib.suppress(z3.Z3Exception):
                        context.interrupt()


class _Either(threading.Event):
    """Set when the event is set or the clock is over."""

    def __init__(self, event: threading.Event, clock: Clock):
        super().__init__()
        self._event = event
        self._clock = clock

    def is_set(self) -> bool:
        return self._event.is_set() or self._clock.over
