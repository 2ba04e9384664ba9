"""Lemmas about products of variables, where the program multiplies none but adds them up."""

from __future__ import annotations

import z3

from ..learner import Knowledge, Note, Subject
from ..lemmas import EARLY, LATE
from ..solve import OutOfTime, Turns
from ..verdict import Verdict
from ._judge import Judge
from ._lemmas import Lemmas


class Products:
    """A part of the work for what linear lemmas could not prove; the search goes on without."""

    def __init__(self, judge: Judge, subject: Subject):
        self._judge = judge
        self._subject = subject

    def run(self) -> Turns[Verdict | None]:
        judge, tunables = self._judge, self._judge.request.tunables
        judge.notify(Note("products", "states now include products of variables"))
        try:
            part = judge.budget.part(tunables.shares.summing)
            knowledge = Knowledge(self._subject, part, judge.request.seed, tunables)
            knowledge.gather()
            if knowledge.failure is not None:
                return judge.unsafe(knowledge.failure)
            return (yield from Lemmas(knowledge, judge, (*EARLY, *LATE)).run())
        except (OutOfTime, z3.Z3Exception):
            judge.budget.tick()
        return None
