"""The assertion itself as the invariant: a quarter of all programs need no more."""

from __future__ import annotations

from ..learner import Knowledge
from ..solve import Turns
from ..verdict import Verdict
from ._judge import Judge
from ._questions import accepts


class Assertion:
    """Also gathers the first examples, which all that follows builds on."""

    def __init__(self, knowledge: Knowledge, judge: Judge):
        self._knowledge = knowledge
        self._judge = judge

    def run(self) -> Turns[Verdict | None]:
        knowledge, judge = self._knowledge, self._judge
        yield from ()
        knowledge.gather()
        if knowledge.failure is not None:
            return judge.unsafe(knowledge.failure)
        assertion = knowledge.assertion()
        if assertion is not None and accepts(knowledge, judge, assertion):
            simple = knowledge.teacher.simplified(assertion)
            terms = knowledge.terms([[dnf] for dnf in simple])
            return judge.safe(terms, "the assertion itself")
        return judge.unsafe(knowledge.failure) if knowledge.failure is not None else None
