"""A candidate put to the teacher, and what it said told to whoever listens."""

from __future__ import annotations

from ...linear import Dnf
from ..learner import Asked, Knowledge
from ._judge import Judge


def accepts(knowledge: Knowledge, judge: Judge, candidate: list[Dnf]) -> bool:
    """Is the candidate, with all lemmas, inductive? If not, there are new examples."""
    accepted = knowledge.teacher.accepts(candidate)
    data, progress = knowledge.data, judge.progress
    judge.notify(
        Asked(
            round=progress.rounds,
            candidate=tuple(zip(knowledge.system.cuts, candidate, strict=True)),
            accepted=accepted,
            reachable=len(data.good),
            failing=len(data.bad),
            between=len(data.free()),
            steps=progress.steps,
            restarts=progress.restarts,
            seconds=knowledge.budget.seconds,
        )
    )
    return accepted
