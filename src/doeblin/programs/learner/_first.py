"""The first examples: where the program starts, where it fails, and some runs between."""

from __future__ import annotations

import random

from .._tunables import SECOND, ExampleTunables
from ..solve import Conditions, GaveUp, Model, Path
from ._data import Data
from ._runs import BLOCK, Runs
from ._starts import Starts


class FirstExamples:
    """Gathers states before anything is learned; `gave_up` is why a solver did not answer."""

    def __init__(
        self,
        conditions: Conditions,
        data: Data,
        rng: random.Random,
        runs: Runs | None,
        scale: int,
        limits: ExampleTunables,
    ):
        self._conditions = conditions
        self._system = conditions.system
        self._budget = conditions.budget
        self._data = data
        self._rng = rng
        self._runs = runs
        self._scale = scale
        self._limits = limits
        self.gave_up: str | None = None

    def gather(self, *, quick: bool = False) -> None:
        """Fill the data, and say where runs can start; ends at the first failure."""
        data, limits = self._data, self._limits
        starts, failures = self._models()
        data.add_models(self._system, starts)
        if self._runs is not None:
            self._runs.starts = Starts(self._system, starts)
        if self._runs is not None and self._system.linear:
            self._run(self._runs, limits.quick_runs if quick else limits.runs)
        else:
            if self._runs is not None:
                self._run_on(self._runs)
            for start in starts:
                if self._budget.work > SECOND:
                    break
                self._walk(start)
        self._reach_all()
        if self._runs is None and (len(self._system.cuts) > 1 or not self._system.linear):
            self._explore()
        data.add_models(self._system, failures)
        for failure in failures[: limits.failures]:
            self._back(failure)

    def _models(self) -> tuple[list[Model], list[Model]]:
        """Of the conditions at the start and at failures."""
        starts: list[Model] = []
        failures: list[Model] = []
        for index, clause in enumerate(self._system.clauses):
            if bool(clause.premises) == (clause.target is not None):
                continue
            conclusions = [] if clause.premises else [()]
            try:
                (failures if clause.premises else starts).extend(
                    self._conditions.violations(
                        index,
                        [],
                        conclusions,
                        self._rng,
                        count=self._limits.models,
                        scale=self._scale,
                    )
                )
            except GaveUp as reason:
                self.gave_up = str(reason)
        return starts, failures

    def _run(self, runs: Runs, most: int) -> None:
        until = self._budget.work + self._limits.run_work
        for number in range(most):
            late = number >= self._limits.quick_runs and self._budget.work > until
            if late or self._data.failure is not None:
                return
            self._budget.tick()
            first = runs.starts.draw(self._rng) if number % 2 == 0 else None
            self._budget.spend(BLOCK * runs.record(self._data, first, self._limits))

    def _run_on(self, runs: Runs) -> None:
        """Long runs in the hope of a failure. The states on the way are for others to look at: an
        example must have a derivation, and that of a call is no run of its own."""
        for _ in range(self._limits.long_runs):
            self._budget.tick()
            inputs = runs.inputs(runs.starts.draw(self._rng))
            run = runs.interpreter.run(inputs, limit=self._limits.long_blocks)
            self._budget.spend(BLOCK * run.blocks)
            if run.outcome == "failed":
                self._data.failure = Path.of_run([value for _, value in run.inputs])
            if self._data.failure is not None or not run.inputs:
                return

    def _reach_all(self) -> None:
        """Look for states of cut points that no run has reached, one step from those reached."""
        for _ in self._system.cuts:
            reached = {self._data.points[i][0] for i in self._data.good}
            before = len(self._data.good)
            for index, clause in enumerate(self._system.clauses):
                sources = {premise.cut for premise in clause.premises}
                if not sources or not sources <= reached or clause.target in (None, *reached):
                    continue
                known = self._data.good_at(clause.premises[0].cut)
                for state in self._rng.sample(known, min(6, len(known))):
                    model = self._successor(index, 0, state)
                    if model is not None:
                        self._data.add_models(self._system, [model])
            if len(self._data.good) == before or self._data.failure is not None:
                return

    def _walk(self, start: Model) -> None:
        """Follow the clauses forwards from a state by asking the solver, where there is no code."""
        clauses = self._system.clauses
        cut, state = clauses[start.clause].target, start.target
        assert cut is not None
        for _ in range(self._limits.walk):
            if self._data.failure is not None:
                return
            options = [
                (i, position, c.target)
                for i, c in enumerate(clauses)
                for position, premise in enumerate(c.premises)
                if premise.cut == cut and c.target is not None
            ]
            self._rng.shuffle(options)
            for clause, position, target in options:
                model = self._successor(clause, position, state)
                if model is not None and (model.target != state or len(options) > 1):
                    self._data.add_models(self._system, [model])
                    cut, state = target, model.target
                    break
            else:
                return

    def _explore(self) -> None:
        """Steps from states drawn at all cut points: walks from a start see little of most."""
        until = self._budget.work + self._limits.explore_work
        clauses = self._system.clauses
        options = [
            (index, position)
            for index, clause in enumerate(clauses)
            for position in range(len(clause.premises))
            if clause.target is not None
        ]
        for _ in range(self._limits.explore if options else 0):
            if self._data.failure is not None or self._budget.work > until:
                return
            index, position = self._rng.choice(options)
            known = self._data.good_at(clauses[index].premises[position].cut)
            if known:
                model = self._successor(index, position, self._rng.choice(known))
                if model is not None:
                    self._data.add_models(self._system, [model])

    def _back(self, failure: Model) -> None:
        """A few steps backwards from a failing state."""
        clauses = self._system.clauses
        cut, state = clauses[failure.clause].source, failure.sources[0]
        for _ in range(self._limits.back):
            options = [i for i, c in enumerate(clauses) if c.target == cut and c.premises]
            if not options or self._data.failure is not None:
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
            self._data.add_models(self._system, [model])
            cut, state = clauses[index].source, model.sources[0]

    def _successor(self, clause: int, position: int, state: tuple[int, ...]) -> Model | None:
        """A model of the clause in which a premise has the given state, and the others states that
        are reachable, varied at random."""
        states = [state] * len(self._system.clauses[clause].premises)
        for other, premise in enumerate(self._system.clauses[clause].premises):
            if other != position:
                known = self._data.good_at(premise.cut)
                if not known:
                    return None
                states[other] = self._rng.choice(known)
        solver = self._conditions.at_states(clause, states)
        try:
            if self._conditions.check(solver) != "sat":
                return None
            found = self._conditions.model(solver, clause)
            varied = self._conditions.vary(solver, clause, self._rng, self._scale)
            return varied or found
        except GaveUp:
            return None
        finally:
            solver.pop()
