"""Many reachable states, only to look at: what bounds and equations could hold.

Examples for the search are few, because every one costs it time. Here a state costs nothing but
the run that visits it, so candidates for lemmas are held against hundreds.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from ..flow import Graph, Havoc, Interpreter, Run, System
from ..proof import Clock
from ._data import LIMIT
from ._seed import BLOCK, FAST_BLOCK, FailedRun, chooser, visited
from ._starts import Starts

_EACH = 12  # states of a run at a cut point
_MOST = 800
_BLOCKS = (100, 400, 2500)
_LARGE = 300  # a constant that short runs do not reach
_FAR = 5_000_000
_RUN = 200  # units of work for a run, however short


class Cloud:
    """The states at each cut point that runs on random inputs have visited."""

    def __init__(
        self,
        interpreter: Interpreter,
        system: System,
        rng: random.Random,
        constants: list[int],
        starts: Starts,
    ):
        self._interpreter = interpreter
        self._system = system
        self._rng = rng
        self._constants = constants
        self._starts = starts
        self._blocks = [cut.block for cut in system.cuts]
        self._seen: list[set[tuple[int, ...]]] = [set() for _ in system.cuts]
        self.points: list[list[tuple[int, ...]]] = [[] for _ in system.cuts]

    def grow(self, clock: Clock, units: float) -> None:
        """Run for so much work; FailedRun is raised when a run violates the property."""
        until = clock.work + units
        rng = self._rng
        while clock.work < until and min(map(len, self._seen), default=_MOST) < _MOST:
            clock.tick()
            blocks = rng.choice(_BLOCKS)
            run = self._interpreter.run(
                self._inputs(0.1),
                watch=self._blocks,
                limit=blocks,
                visit_limit=blocks,
            )
            clock.spend(_RUN + BLOCK * run.blocks)
            if run.outcome == "failed":
                raise FailedRun(tuple(value for _, value in run.inputs))
            self._add(run, _EACH)

    def reach_far(self, graph: Graph, clock: Clock, units: float) -> None:
        """States after thousands and millions of turns, where large constants matter."""
        if max(map(abs, self._constants), default=0) < _LARGE:
            return
        from ..flow._fast import CHOICES, Fast

        fast = Fast(graph)
        until = clock.work + units
        rng = self._rng
        while clock.work < until:
            choose = self._inputs(0.5)
            state: dict[str, int] = {}
            block, step = 0, 100
            while clock.work < until:
                clock.tick()
                run = fast.run(
                    lambda havoc, arrivals, choose=choose: choose(havoc),
                    limit=rng.randint(1, step),
                    menu=lambda havoc, choose=choose: [choose(havoc) for _ in range(CHOICES)],
                    rng=np.random.default_rng(rng.getrandbits(60)),
                    initial=state,
                    block=block,
                )
                clock.spend(_RUN + FAST_BLOCK * run.blocks)
                if run.outcome != "cut":
                    break
                state, block, step = run.state, run.block, min(2 * step, _FAR)
                near = self._interpreter.run(
                    choose, watch=self._blocks, limit=200, initial=state, block=block, visit_limit=4
                )
                clock.spend(_RUN + BLOCK * near.blocks)
                self._add(near, 4)

    def _inputs(self, anywhere: float) -> Callable[[Havoc], int]:
        first = self._starts.draw(self._rng, anywhere=anywhere)
        compared = self._starts.compared
        return chooser(self._rng, self._constants, first=first, compared=compared)

    def _add(self, run: Run, most: int) -> None:
        found: list[set[tuple[int, ...]]] = [set() for _ in self._seen]
        for cut, point in visited(self._interpreter, self._system, run):
            if point not in self._seen[cut] and max(map(abs, point), default=0) < LIMIT:
                found[cut].add(point)
        for cut, new in enumerate(found):
            room = 2 * _MOST - len(self.points[cut])
            kept = self._rng.sample(sorted(new), min(len(new), most, room))
            self._seen[cut].update(kept)
            self.points[cut] += kept
