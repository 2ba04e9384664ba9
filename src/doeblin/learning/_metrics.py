"""What training reports: a table, JSON lines, a progress bar."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from .._files import write_text


class Metrics:
    """Rows of numbers, one an epoch, mirrored in a file of JSON lines if a path is given."""

    def __init__(self, rows: list[dict[str, float]], path: Path | None = None):
        self.rows = rows
        self.path = path
        if path is not None:
            # A run that goes on after being killed writes again what its checkpoint knows.
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, "".join(_line(row) for row in rows))

    def add(self, row: dict[str, float]) -> None:
        self.rows.append(row)
        if self.path is not None:
            with open(self.path, "a") as file:
                file.write(_line(row))

    def table(self) -> Table:
        table = Table()
        names = list(self.rows[0]) if self.rows else []
        for name in names:
            table.add_column(name.replace("_", " "), justify="right")
        for row in self.rows:
            table.add_row(*(f"{row[name]:.5g}" for name in names))
        return table


class Progress:
    """A bar with the objective and the effective number of walks, on stderr."""

    def __init__(self, epochs: int, steps: int, wanted: bool | None):
        self.steps = steps
        self.bar: Any = None
        if sys.stderr.isatty() if wanted is None else wanted:
            self.bar = RichProgress(
                TextColumn("training"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("log-likelihood {task.fields[objective]:.4f}"),
                TextColumn("effective walks {task.fields[walks]:.1f}"),
                console=Console(stderr=True),
            )
            self.task = self.bar.add_task(
                "", total=epochs * steps, objective=float("nan"), walks=float("nan")
            )

    def show(self, epoch: int, position: int, sums: dict[str, float]) -> None:
        if self.bar is not None:
            self.bar.update(
                self.task,
                completed=epoch * self.steps + position,
                objective=sums["log_likelihood"] / sums["examples"],
                walks=sums["effective_walks"] / sums["examples"],
            )

    def __enter__(self) -> Progress:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()


def _line(row: dict[str, float]) -> str:
    # Strict JSON knows no NaN.
    clean = {
        name: value if value == value and abs(value) != float("inf") else None
        for name, value in row.items()
    }
    return json.dumps(clean, allow_nan=False) + "\n"
