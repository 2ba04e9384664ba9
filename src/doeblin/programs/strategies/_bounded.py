"""Failures after some steps: the clauses unrolled, deeper and deeper."""

from __future__ import annotations

import math

from ..solve import Budget, Pause, Trees, Turns, Unrolling
from ..system import System
from ..verdict import Outcome, Verdict
from ._judge import Judge


def unrolled(system: System, budget: Budget) -> Unrolling | Trees:
    """The clauses step by step: as paths, or as trees where a clause has several premises."""
    return Unrolling(system, budget) if system.linear else Trees(system, budget)


class Bounded:
    """A first look at a few steps; then a share of all work so far, for more of them."""

    def __init__(self, judge: Judge, unrolling: Unrolling | Trees, spent: float = 0.0):
        self._judge = judge
        self._budget = judge.budget
        self._shares = judge.request.tunables.shares
        self._unrolling = unrolling
        self.spent = spent

    def look(self, depth: int, units: float = math.inf) -> Verdict | None:
        """UNSAFE, if a failure within so many steps is found, and is one of the program's."""
        until = self._budget.work + units
        while self._unrolling.depth < depth and not self._unrolling.exhausted:
            if self._budget.work >= until:
                return None
            verdict = self._deepen(until - self._budget.work)
            if verdict is not None:
                return verdict if verdict.outcome is Outcome.UNSAFE else None
        return None

    @property
    def exhausted(self) -> bool:
        """Did the solver give up at this depth?"""
        return self._unrolling.exhausted

    def run(self, least: float = 0.0) -> Turns[Verdict | None]:
        """Goes on until there is nothing deeper; `least` is for the first turn."""
        while not self._unrolling.finished:
            share = max(self._shares.bounded * self._budget.work - self.spent, least)
            until, least = self._budget.work + share, 0.0
            while (left := until - self._budget.work) > self._shares.least:
                if self._unrolling.finished:
                    break
                verdict = self._deepen(left)
                if verdict is not None:
                    return verdict
            yield Pause.NOTHING
        return None

    def _deepen(self, units: float) -> Verdict | None:
        before = self._budget.work
        path = self._unrolling.deepen(units)
        self.spent += self._budget.work - before
        return self._judge.unsafe(path) if path is not None else None
