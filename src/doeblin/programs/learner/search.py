"""Candidates that fit all examples: tasks for the search of `formulas`, round after round."""

from __future__ import annotations

import time

import numpy as np

from ...formulas import Attempt, Chain, Ladder, Limits, Method, Outcome, Rung, Task, climb
from ...linear import Atom, Dnf
from ..solve import SECOND
from ..system.fast import compiled_loop
from ._knowledge import Knowledge
from ._news import Progress
from ._round import Round

_METROPOLIS = 0.1  # units of work for a step
_CHAIN = 1000  # and for a chain, with its examples and its result
_ASSERTION = 7  # the level at which the assertion's own template is tried
_EARLY = 8  # failures, before which a chain of that template starts at the assertion

_COMPILED: dict[Method, float] = {}


def compiled(method: Method) -> float:
    """Compile what a method and long runs need, unless it is compiled; the seconds it took."""
    if method not in _COMPILED:
        before = time.perf_counter()
        compiled_loop()
        _compile(method)
        _COMPILED[method] = time.perf_counter() - before
        return _COMPILED[method]
    return 0.0


def _compile(method: Method) -> None:
    # Metropolis kernels are specialised on the number of label words.
    metropolis = any(stage.move == "metropolis" for stage in method.stages)
    for words in (1, 2, 4, 8, 16) if metropolis else (1,):
        table = np.ones((words, 2), dtype=np.uint64)
        labels = np.ones(words, dtype=np.uint64)
        neighbours = np.zeros((2, 1), dtype=np.int32)
        task = Task(table, labels, neighbours=neighbours)
        Chain(task, method, (1, 1), seed=0).compile()


class Candidates:
    """Where the search stands among growing templates. A chain's examples are drawn anew for every
    candidate, and after every other failure."""

    def __init__(self, knowledge: Knowledge, method: Method, progress: Progress, until: float):
        self._knowledge, self._method, self._progress = knowledge, method, progress
        self._until = until
        self._tunables = knowledge.tunables.search
        templates = list(self._tunables.templates)
        self._assertion = knowledge.assertion()
        if self._assertion is not None:
            widest = max(len(cube) for dnf in self._assertion for cube in dnf)
            shape = (max(len(dnf) for dnf in self._assertion), widest + 2)
            templates.insert(_ASSERTION, shape)
        self._ladder = Ladder(templates)
        self._rung = self._ladder.rung(0)
        self._failures = self._same = self._previous = 0
        self._last: list[Dnf] | None = None
        self._round: Round | None = None
        self._began = 0.0

    def next(self) -> list[Dnf] | None:
        """A candidate that fits all examples; None when there was so much work."""
        knowledge, tunables, rung = self._knowledge, self._tunables, self._rung
        budget = knowledge.budget
        self._prepare()
        if rung.level > 0 and knowledge.rng.random() < tunables.step_back:
            rung = self._ladder.rung(rung.number - 1)
        begun = self._rung = rung

        def attempt(rung: Rung) -> Attempt | None:
            if rung.number > begun.number:
                self._failures += 1
                if self._failures % 2 == 0:
                    self._prepare()
            budget.tick()
            return None if budget.work > self._until else self._attempt(rung)

        limits = Limits(should_stop=lambda: budget.over)
        found = climb(self._ladder, rung.number, attempt, limits, self._account)
        if found.reason != "solved":
            return None
        assert found.chain is not None and self._round is not None
        rung, self._last = found.rung, self._round.formulas(found.chain.best)
        self._progress.search_seconds += budget.seconds - self._began
        self._same = self._same + 1 if rung.level == self._previous else 0
        self._previous = rung.level
        if self._same > tunables.creep and rung.level < len(self._ladder.templates) - 1:
            rung, self._same = self._ladder.rung(rung.number + 1), 0
        self._rung = rung
        return self._last

    def _prepare(self) -> None:
        knowledge, rng = self._knowledge, self._knowledge.rng
        keep: list[list[Atom]] = [[] for _ in knowledge.spaces]
        for formulas in (self._last, self._assertion):
            for cut, dnf in enumerate(formulas or ()):
                keep[cut] += [atom for cube in dnf for atom in cube]
        self._round = Round(
            knowledge.spaces,
            knowledge.data,
            rng,
            keep=keep,
            from_data=rng.random() < self._tunables.from_data,
            parity=knowledge.budget.work > self._tunables.parity,
            neighbours=any(stage.move == "metropolis" for stage in self._method.stages),
        )

    def _attempt(self, rung: Rung) -> Attempt:
        round_, tunables, rng = self._round, self._tunables, self._knowledge.rng
        assert round_ is not None
        n, m = rung.template
        shape = (n * len(self._knowledge.spaces), m)
        start = None
        early = rung.level == _ASSERTION and self._failures < _EARLY
        if self._assertion and (early or rng.random() < tunables.from_assertion):
            start = round_.start_from(self._assertion, shape)
        elif self._last and rng.random() < tunables.warm:
            start = round_.start_from(self._last, shape)
        self._began = self._knowledge.budget.seconds
        if start is None:
            start = round_.fresh_start(shape)
        units = tunables.slice * rung.effort * (1 + tunables.growth * rung.level)
        chain = Chain(round_.task, self._method, shape, seed=rng.getrandbits(60), start=start)
        return Attempt(chain, max(1, int(units / self._step(round_))))

    def _account(self, outcome: Outcome) -> None:
        budget, progress = self._knowledge.budget, self._progress
        assert self._round is not None
        budget.tick()
        budget.spend(_CHAIN + self._step(self._round) * outcome.steps)
        now = budget.seconds
        progress.steps += outcome.steps
        progress.restarts += outcome.tours
        progress.search_seconds += now - self._began
        self._began = now

    def _step(self, round_: Round) -> float:
        """Units of work for a step."""
        gibbs = any(stage.move == "gibbs" for stage in self._method.stages)
        return round_.task.move_seconds * SECOND if gibbs else _METROPOLIS
