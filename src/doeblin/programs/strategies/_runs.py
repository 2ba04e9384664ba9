"""Long runs on the side: millions of turns in the hope of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..learner import FAST_BLOCK, Runs, engine
from ..solve import Path, Pause, Turns
from ..system import Graph
from ..verdict import Verdict
from ._judge import Judge

if TYPE_CHECKING:
    from ..system.fast import Fast, LongRun

_RUN = 500  # units of work for a run, however short
_INPUT = 0.05  # and for an input


class LongRuns:
    """Runs of the program that take a small part of the time.

    A program without inputs has one run only, which goes on where it was, and decides.
    """

    def __init__(self, judge: Judge, graph: Graph, runs: Runs):
        self._judge = judge
        self._budget = judge.budget
        self._graph = graph
        self._runs = runs

    def run(self) -> Turns[Verdict | None]:
        engine(self._judge.request.method, self._budget)
        from ..system.fast import Fast

        fast, shares = Fast(self._graph), self._judge.request.tunables.shares
        spent, rest = 0.0, None
        while True:
            share = (shares.runs if rest is None else shares.only_run) * self._budget.work
            if spent > share:
                yield Pause.NOTHING
                continue
            self._budget.tick()
            run = self._take(fast, rest, min(share - spent, shares.one_run))
            work = _RUN + FAST_BLOCK * run.blocks + _INPUT * run.used
            spent += work
            self._budget.spend(work)
            if run.outcome == "failed":
                return self._judge.unsafe(Path.of_run([value for _, value in run.inputs]))
            rest = run if run.outcome == "cut" and not run.used else None
            if not run.used and rest is None:
                return None

    def _take(self, fast: Fast, rest: LongRun | None, units: float) -> LongRun:
        from ..system.fast import CHOICES

        rng, starts = self._runs.rng, self._runs.starts
        first = starts.draw(rng, anywhere=0.5) if rng.random() < 0.8 else {}
        choose = self._runs.inputs(first, wide=True)

        def go_on(now: LongRun) -> bool:
            self._budget.tick()
            return True

        return fast.run(
            lambda havoc, arrivals: choose(havoc),
            limit=1 + int(units / FAST_BLOCK),
            menu=lambda havoc: [choose(havoc) for _ in range(CHOICES)],
            rng=np.random.default_rng(rng.getrandbits(60)),
            initial=rest.state if rest else None,
            block=rest.block if rest else 0,
            go_on=go_on,
        )
