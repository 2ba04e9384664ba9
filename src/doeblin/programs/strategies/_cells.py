"""Programs with arrays: runs and unrolled clauses for failures, lemmas about cells for proofs."""

from __future__ import annotations

import random

from ..learner import Sampling, harvest
from ..solve import Pause, Turns, Unrolling
from ..verdict import Outcome, Verdict
from ._bounded import Bounded
from ._judge import Judge

_FIRST = 0.25  # of a second, for runs before anything else


class CellWise:
    """A verdict on a program with arrays."""

    def __init__(self, judge: Judge):
        self._judge = judge
        program = judge.program
        assert program.interpreter is not None
        self._system = program.system
        found = harvest(program.system, program.graph)
        constants = [c for c in found.constants if abs(c) < 1 << 20]
        rng = random.Random(judge.request.seed)
        self._sampling = Sampling(program.interpreter, program.system, rng, constants)
        self._bounded = Bounded(judge, Unrolling(program.exact, judge.budget))

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        shares, limits = judge.request.tunables.shares, judge.request.tunables.examples
        found = self._sample(limits.run_work)
        if found is not None:
            return found
        if not self._system.cuts:
            found = self._bounded.look(1)
            if found is not None:
                return found
            return judge.safe([], "no loops")
        found = self._bounded.look(shares.first_depth, shares.first_look)
        if found is not None:
            return found
        deeper = self._bounded.run(least=shares.first_look)
        while True:
            try:
                next(deeper)
            except StopIteration as end:
                return end.value
            found = self._sample(limits.run_work)
            if found is not None:
                return found
            yield Pause.NOTHING

    def _sample(self, units: float) -> Verdict | None:
        """UNSAFE, if a run fails, and on C's integers as well."""
        judge = self._judge
        path = self._sampling.grow(judge.budget, units, judge.request.tunables.examples)
        found = judge.unsafe(path) if path is not None else None
        return found if found is not None and found.outcome is Outcome.UNSAFE else None
