"""Lemmas until they suffice: stage by stage, what sources propose and Houdini proves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linear import Dnf
from ..learner import Knowledge, Note, new_formulas
from ..lemmas import SOURCES, Context, Stage, prove
from ..solve import Pause, Turns
from ..verdict import Verdict
from ._judge import Judge


class Lemmas:
    """Some of the stages, in order. What is proved remains known to all that follows."""

    def __init__(self, knowledge: Knowledge, judge: Judge, stages: Sequence[Stage]):
        self._knowledge = knowledge
        self._judge = judge
        self._stages = stages
        self._proposed: dict[tuple[str, int, int], list[Dnf]] = {}

    def run(self) -> Turns[Verdict | None]:
        found = yield from self.proof()
        if self._knowledge.failure is not None:
            return self._judge.unsafe(self._knowledge.failure)
        if found is None:
            return None
        return self._judge.safe(self._knowledge.terms(found), "lemmas")

    def proof(self) -> Turns[list[list[Dnf]] | None]:
        """Lemmas that exclude every failure, as few as possible; None where they do not suffice,
        or where a failure is found."""
        knowledge = self._knowledge
        for stage in self._stages:
            if not stage.when(knowledge.system):
                continue
            if stage.rested:
                yield Pause.NOTHING
            knowledge.look_around(stage.share, stage.far)
            if knowledge.failure is not None:
                return None
            if (yield from self._add(stage)):
                return self._judge.essential(knowledge, knowledge.teacher.lemmas)
            yield Pause.MIDST
        return None

    def _add(self, stage: Stage) -> Turns[bool]:
        """Add what is provable of a stage's formulas to the lemmas; do these suffice?"""
        knowledge, teacher = self._knowledge, self._knowledge.teacher
        wanted = []
        for cut in range(len(knowledge.spaces)):
            proposed = self._propose(stage, cut)
            ranges = knowledge.system.cuts[cut].ranges
            wanted.append(new_formulas(list(proposed), teacher.lemmas[cut], ranges))
            knowledge.origins[cut] = proposed | knowledge.origins[cut]
        if not any(wanted):
            return False
        limits = knowledge.tunables.lemmas
        proved = yield from prove(knowledge.conditions, wanted, knowledge.follow, limits)
        teacher.add_lemmas(proved)
        self._judge.notify(Note("lemmas", f"{sum(map(len, proved))} new {stage.name}"))
        return any(proved) and teacher.sufficient()

    def _propose(self, stage: Stage, cut: int) -> dict[Dnf, str]:
        """Formulas of all sources of a stage, each with the first that proposes it."""
        knowledge = self._knowledge
        space, reachable = knowledge.spaces[cut], knowledge.reachable(cut)
        found: dict[Dnf, str] = {}
        if not space.size:
            return found
        context = Context(
            space,
            np.array(reachable, dtype=np.int64).reshape(len(reachable), space.size),
            knowledge.teacher.lemmas[cut],
            knowledge.hints[cut],
            knowledge.tunables.lemmas,
            knowledge.budget.tick,
        )
        for name in stage.sources:
            if name in knowledge.tunables.lemmas.without:
                continue
            key = (name, cut, len(reachable))  # states are only ever added
            if key not in self._proposed:
                self._proposed[key] = list(SOURCES[name](context))
            for dnf in self._proposed[key]:
                found.setdefault(dnf, name)
        return found
