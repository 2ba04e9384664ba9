"""Z3's own engine for the same clauses; its proof is re-checked like any other."""

from __future__ import annotations

import z3

from ..solve import OutOfTime, Pause, Turns, spacer
from ..verdict import Outcome, Verdict
from ._bounded import Bounded, unrolled
from ._judge import Judge

_DEEPEST = 10_000


class SpacerAlone:
    """Spacer with all of the budget, as a peer."""

    def __init__(self, judge: Judge):
        self._judge = judge

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        yield from ()
        answer = spacer(judge.program.system, judge.budget)
        if isinstance(answer, str):
            return judge.unknown(answer)
        if answer is not None:
            return judge.safe(answer, "Spacer")
        found = Bounded(judge, unrolled(judge.program.system, judge.budget)).look(_DEEPEST)
        return found or judge.unknown(
            "Spacer says unsafe, but no failure could be replayed in time"
        )


class Spacer:
    """Spacer as a helper, asked now and then for so much work.

    It is at its best where the search is not: many variables, few disjunctions.
    """

    def __init__(self, judge: Judge, plan: tuple[tuple[float, float], ...]):
        self._judge = judge
        self._plan = plan

    def run(self) -> Turns[Verdict | None]:
        judge, budget, plan = self._judge, self._judge.budget, self._plan
        asked = 0
        while True:
            after, most = plan[min(asked, len(plan) - 1)]
            later = 4 ** max(0, asked - len(plan) + 1)
            if budget.work >= later * after:
                asked += 1
                answer = None
                try:
                    answer = spacer(judge.program.system, budget.part(later * most))
                except (OutOfTime, z3.Z3Exception):
                    budget.tick()
                if isinstance(answer, list):
                    verdict = judge.safe(answer, "Spacer")
                    if verdict.outcome is not Outcome.UNKNOWN:
                        return verdict
            yield Pause.NOTHING
