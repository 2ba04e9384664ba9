"""What people see who wait: how many files are done, or one line about what is being done."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from .._text import visible

PATIENCE, _EVERY = 2.0, 0.5
"""Seconds without a word, after which people are told what they wait for, and how often."""


class Waiting:
    """One line on the terminal's standard error: `what` is done, and for how many seconds.

    It comes when nothing was printed for `PATIENCE`, makes way for what is, and is gone at the end.
    `tick` writes it where it is due, and costs nothing before.
    """

    shown: ClassVar[Waiting | None] = None
    """Whose line is on the terminal."""
    quiet_since: ClassVar[float] = time.monotonic()
    """When something was printed last, or the program began."""

    def __init__(self, what: str, limit: float = math.inf):
        self.what = what
        self._limit = limit
        self._since = time.monotonic()
        watched = sys.stderr is not None and sys.stderr.isatty()
        self._due = self._since if watched else math.inf
        self._lock = threading.Lock()

    def tick(self) -> None:
        """Write the line if it is time to."""
        now = time.monotonic()
        if now < max(self._due, Waiting.quiet_since + PATIENCE):
            return
        with self._lock:
            if now < self._due:  # it was stopped
                return
            self._due = now + _EVERY
            spent = f"{min(now - self._since, self._limit):.0f}"
            limit = f" of {self._limit:g}" if self._limit < math.inf else ""
            tail = f", {spent}{limit} s"
            # A line that is broken in two could not be taken back.
            text = visible(self.what)[: max(_width() - 1 - len(tail), 0)]
            Waiting.shown = self
            _write(f"\r{text}{tail}\x1b[K")

    def wait_for(self, done: threading.Event, late: Callable[[], bool]) -> bool:
        """Tick until it is `done`; False if it is `late` by then."""
        try:
            while not done.wait(0.02):
                self.tick()
                if late():
                    return False
            return True
        finally:
            self.stop()

    def __enter__(self) -> Waiting:
        """In the meantime a thread ticks, if anybody sees it."""
        if self._due < math.inf:
            threading.Thread(target=self._tick_on, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _tick_on(self) -> None:
        while self._due < math.inf:
            self.tick()
            time.sleep(_EVERY)

    def stop(self) -> None:
        """Take the line away for good."""
        with self._lock:
            self._due = math.inf
            self._clear()

    def make_way(self) -> None:
        """Take the line away; if people still wait, it comes back."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        if Waiting.shown is self:
            Waiting.shown = None
            _write("\r\x1b[K")


def make_way(*, err: bool) -> None:
    """What is printed next has the terminal for itself."""
    if err or (sys.stdout is not None and sys.stdout.isatty()):
        Waiting.quiet_since = time.monotonic()
        if (line := Waiting.shown) is not None:
            line.make_way()


def stage_of(news: Any) -> str:
    """What a proof is at, in a few words; `news` is a `Note` or an `Asked`."""
    if hasattr(news, "text"):
        return f"{news.kind}: {news.text}"
    return f"round {news.round}, {news.reachable + news.failing + news.between} examples"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


class Bar:
    """How many files are done, in flight, and failed."""

    def __init__(self, done: int = 0, show: Callable[..., None] = lambda **_: None) -> None:
        self._counts = {"done": done, "flying": 0, "failed": 0}
        self._show = show

    def in_flight(self, count: int) -> None:
        self._counts["flying"] = count
        self._show(**self._counts)

    def add(self, *, failed: bool = False) -> None:
        self._counts["done"] += 1
        self._counts["failed"] += failed
        self._counts["flying"] = max(self._counts["flying"] - 1, 0)
        self._show(**self._counts)


@contextlib.contextmanager
def progress(total: int, done: int = 0) -> Iterator[Bar]:
    """A progress bar on standard error, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    told = TextColumn(
        "{task.completed} of {task.total} done, {task.fields[flying]} in flight, "
        "{task.fields[failed]} failed"
    )
    columns = (BarColumn(), told, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("verify", total=total, completed=done, flying=0, failed=0)

        def show(done: int, flying: int, failed: int) -> None:
            bar.update(task, completed=done, flying=flying, failed=failed)

        yield Bar(done, show)
