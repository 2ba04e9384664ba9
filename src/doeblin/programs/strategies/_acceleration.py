"""Failures after very many steps: bounded search in which loops are taken many times at once."""

from __future__ import annotations

from ..solve import Turns, Unrolling, accelerate
from ..verdict import Verdict
from ._bounded import Bounded
from ._judge import Judge


class Acceleration:
    """Looks at all depths anew; where no loop can be taken so, the search goes on as it was."""

    def __init__(self, judge: Judge, plain: Bounded):
        self._judge = judge
        self._plain = plain

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        system, base = accelerate(judge.program.system, judge.budget)
        if not base:
            return (yield from self._plain.run())
        unrolling = Unrolling(system, judge.budget, base)
        bounded = Bounded(judge, unrolling, self._plain.spent)
        return (yield from bounded.run(judge.request.tunables.shares.accelerated))
