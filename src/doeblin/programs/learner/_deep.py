"""Long runs on the side: millions of turns in the hope of a failure."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from ..flow import Graph
from ..proof import SECOND, Clock
from ._seed import FAST_BLOCK, FailedRun, chooser
from ._starts import Starts

if TYPE_CHECKING:
    from ..flow._fast import LongRun

_SHARE = 0.06  # of the work so far
# A program without inputs has one run only, which decides: half of the work so far.
_SHARE_ALONE = 0.5
_ONE_RUN = 0.1 * SECOND
_RUN = 500  # units of work for a run, however short
_INPUT = 0.05  # and for an input


class DeepRuns:
    """Runs of the program that take a small part of the time; FailedRun is raised on success."""

    def __init__(
        self,
        graph: Graph,
        clock: Clock,
        rng: random.Random,
        constants: list[int],
        starts: Starts,
    ):
        from ..flow._fast import Fast

        self._fast = Fast(graph)
        self._clock = clock
        self._rng = rng
        self._constants = constants
        self._starts = starts
        self._spent = 0.0
        self._over = False
        self._rest: LongRun | None = None

    def advance(self) -> None:
        """As many runs as the share allows; a run without inputs goes on where it was."""
        while not self._over:
            share = (_SHARE_ALONE if self._rest is not None else _SHARE) * self._clock.work
            if self._spent > share:
                return
            self._clock.tick()
            run = self._run(min(share - self._spent, _ONE_RUN))
            work = _RUN + FAST_BLOCK * run.blocks + _INPUT * run.used
            self._spent += work
            self._clock.spend(work)
            if run.outcome == "failed":
                raise FailedRun(tuple(value for _, value in run.inputs))
            self._rest = run if run.outcome == "cut" and not run.used else None
            self._over = not run.used and self._rest is None

    def _run(self, units: float) -> LongRun:
        from ..flow._fast import CHOICES

        first = self._starts.draw(self._rng, anywhere=0.5) if self._rng.random() < 0.8 else {}
        choose = chooser(
            self._rng, self._constants, first=first, compared=self._starts.compared, wide=True
        )
        rest = self._rest

        def go_on(now: LongRun) -> bool:
            self._clock.tick()
            return True

        return self._fast.run(
            lambda havoc, arrivals: choose(havoc),
            limit=1 + int(units / FAST_BLOCK),
            menu=lambda havoc: [choose(havoc) for _ in range(CHOICES)],
            rng=np.random.default_rng(self._rng.getrandbits(60)),
            initial=rest.state if rest else None,
            block=rest.block if rest else 0,
            go_on=go_on,
        )
