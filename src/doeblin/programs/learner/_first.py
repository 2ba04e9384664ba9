"""The first examples: where the program starts, where it fails, and some runs between."""

from __future__ import annotations

import random

from ..flow import Interpreter
from ..proof import SECOND, Conditions, GaveUp, Model
from ._data import Data
from ._lemmas import good_points
from ._seed import BLOCK, add_models, run_program, successor, walk
from ._starts import Starts

_RUNS = 0.12 * SECOND


class FirstExamples:
    """Gathers states before anything is learned; `gave_up` is why a solver did not answer."""

    def __init__(
        self,
        conditions: Conditions,
        data: Data,
        rng: random.Random,
        *,
        scale: int,
        constants: list[int],
        interpreter: Interpreter | None,
        runs: int = 40,
    ):
        self._conditions = conditions
        self._system = conditions.system
        self._clock = conditions.clock
        self._data = data
        self._rng = rng
        self._scale = scale
        self._constants = constants
        self._interpreter = interpreter
        self._most = runs
        self.gave_up: str | None = None

    def gather(self) -> Starts:
        """Fill the data; returns how to start further runs."""
        clauses = self._system.clauses
        starts: list[Model] = []
        failures: list[Model] = []
        for index, clause in enumerate(clauses):
            try:
                if clause.source is None and clause.target is not None:
                    starts += self._conditions.violations(
                        index, [], [()], self._rng, count=6, scale=self._scale
                    )
                elif clause.source is not None and clause.target is None:
                    failures += self._conditions.violations(
                        index, [], [], self._rng, count=6, scale=self._scale
                    )
            except GaveUp as reason:
                self.gave_up = str(reason)
        add_models(self._data, self._system, starts)
        if self._interpreter is not None:
            self._runs(Starts(self._system, starts))
        else:
            for start in starts:
                if self._clock.work > SECOND:
                    break
                walk(self._conditions, self._data, self._rng, start, steps=14, scale=self._scale)
        self._reach_all()
        add_models(self._data, self._system, failures)
        for failure in failures[:4]:
            self._back(failure.clause, failure.source)
        return Starts(self._system, starts)

    def _reach_all(self) -> None:
        """Look for states of cut points that no run has reached, one step from those reached."""
        for _ in self._system.cuts:
            reached = {self._data.points[i][0] for i in self._data.good}
            before = len(self._data.good)
            for index, clause in enumerate(self._system.clauses):
                if clause.source not in reached or clause.target in (None, *reached):
                    continue
                known = good_points(self._data, clause.source)
                for state in self._rng.sample(known, min(6, len(known))):
                    model = successor(self._conditions, self._rng, index, state, self._scale)
                    if model is not None:
                        add_models(self._data, self._system, [model])
            if len(self._data.good) == before:
                return

    def _runs(self, starts: Starts) -> None:
        assert self._interpreter is not None
        until = self._clock.work + _RUNS
        for number in range(self._most):
            if number >= 15 and self._clock.work > until:
                break
            self._clock.tick()
            first = starts.draw(self._rng) if number % 2 == 0 else None
            blocks = run_program(
                self._interpreter,
                self._system,
                self._data,
                self._rng,
                self._constants,
                first=first,
                compared=starts.compared,
            )
            self._clock.spend(BLOCK * blocks)

    def _back(self, clause: int, state: tuple[int, ...]) -> None:
        """A few steps backwards from a failing state."""
        cut = self._system.clauses[clause].source
        for _ in range(3):
            options = [
                i
                for i, c in enumerate(self._system.clauses)
                if c.target == cut and c.source is not None
            ]
            if not options:
                return
            index = self._rng.choice(options)
            solver = self._conditions.to_state(index, state)
            try:
                if self._conditions.check(solver) != "sat":
                    return
                model = self._conditions.model(solver, index)
            except GaveUp:
                return
            finally:
                solver.pop()
            add_models(self._data, self._system, [model])
            cut, state = self._system.clauses[index].source, model.source
