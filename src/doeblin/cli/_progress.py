"""A line for people who wait: how many files are done, in flight, and failed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


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
