"""The randomised search: examples, candidate, counterexamples, until a candidate is inductive."""

from __future__ import annotations

import math

from ..learner import Knowledge, engine
from ..solve import Pause, Turns
from ..verdict import Verdict
from ._judge import Judge
from ._questions import accepts


class Search:
    """Chains over growing templates, for so much work at most."""

    def __init__(self, knowledge: Knowledge, judge: Judge, units: float = math.inf):
        self._knowledge = knowledge
        self._judge = judge
        self._units = units

    def run(self) -> Turns[Verdict | None]:
        knowledge, judge = self._knowledge, self._judge
        method = engine(judge.request.method, knowledge.budget)
        from ..learner.search import Candidates

        budget = knowledge.budget
        until = budget.work + self._units
        candidates = Candidates(knowledge, method, judge.progress, until)
        while budget.work < until:
            budget.tick()
            yield Pause.NOTHING
            judge.progress.rounds += 1
            candidate = candidates.next()
            if candidate is None:
                return None
            if accepts(knowledge, judge, candidate):
                lemmas = knowledge.teacher.lemmas
                found = [[*proved, dnf] for proved, dnf in zip(lemmas, candidate, strict=True)]
                if judge.request.lemmas:
                    found = judge.essential(knowledge, found)
                return judge.safe(knowledge.terms(found), method.name)
            if knowledge.failure is not None:
                return judge.unsafe(knowledge.failure)
        return None
