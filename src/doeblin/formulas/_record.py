"""What a search reports while it runs, and when it must end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from .._compiling import clock
from .language import Examples, Formula


class TracePoint(NamedTuple):
    """An improvement: when it was found, in steps and fresh starts, and the cost since then."""

    step: int
    tour: int
    cost: int


class Outcome(NamedTuple):
    """What a chain did since it last told. Costs leave out the contradictions that nothing can
    mend; `codes` are the atoms of its best formula, when it has improved."""

    solved: bool
    cost: int
    codes: tuple[tuple[int, ...], ...] | None
    template: tuple[int, int]
    steps: int
    tours: int
    trace: list[tuple[int, int, int]]


class Progress(NamedTuple):
    """What a progress callback is told."""

    steps: int
    tours: int
    cost: int
    template: tuple[int, int]
    seconds: float


Reason = Literal["solved", "steps", "time", "stopped"]


class Limits:
    """Steps, a deadline on the `clock`, which leaves compiling out, and a flag to ask."""

    def __init__(
        self,
        max_steps: int | None = None,
        deadline: float | None = None,
        should_stop: Callable[[], bool] | None = None,
    ):
        self._max_steps, self._deadline = max_steps, deadline
        self.should_stop = should_stop

    def steps_left(self, steps: int) -> int | None:
        return None if self._max_steps is None else max(0, self._max_steps - steps)

    def seconds_left(self) -> float:
        if self._deadline is None:
            return float("inf")
        return max(0.0, self._deadline - clock())

    def piece(self, seconds: float | None) -> float | None:
        """So many seconds, or those that are left; None for no end."""
        if self._deadline is None:
            return seconds
        left = self.seconds_left()
        return left if seconds is None else min(seconds, left)

    def reached(self, steps: int) -> Reason | None:
        if self.steps_left(steps) == 0:
            return "steps"
        if self.seconds_left() <= 0:
            return "time"
        return "stopped" if self.should_stop is not None and self.should_stop() else None


class Record:
    """Adds up what the legs of all chains report."""

    def __init__(
        self,
        examples: Examples,
        unavoidable: int,
        began: float,
        progress: Callable[[Progress], object] | None,
    ):
        self._unavoidable, self._began, self._progress = unavoidable, began, progress
        self.steps = self.tours = 0
        self.codes: tuple[tuple[int, ...], ...] = ()
        self.cost = examples.cost(Formula.false(examples.variables))
        self.template = (1, 1)
        self.trace: list[TracePoint] = []

    def add(self, outcome: Outcome) -> None:
        for step, cost, tour in outcome.trace:
            total = cost + self._unavoidable
            if total < self.cost or not self.trace:
                self.trace.append(TracePoint(self.steps + step, self.tours + tour, total))
        self.steps += outcome.steps
        self.tours += outcome.tours
        if outcome.codes is not None and outcome.cost + self._unavoidable < self.cost:
            self.cost = outcome.cost + self._unavoidable
            self.codes, self.template = outcome.codes, outcome.template
        if self._progress is not None:
            seconds = clock() - self._began
            self._progress(Progress(self.steps, self.tours, self.cost, outcome.template, seconds))
