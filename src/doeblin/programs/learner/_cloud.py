"""Many reachable states, only to look at: what bounds and equations could hold.

Examples for the search are few, because every one costs it time. Here a state costs nothing but
the run that visits it, so candidates for lemmas are held against hundreds.
"""

from __future__ import annotations

import numpy as np

from .._tunables import ExampleTunables
from ..solve import Budget, Path
from ..system import Graph, Run
from ._data import LIMIT
from ._runs import BLOCK, FAST_BLOCK, Runs

_BLOCKS = (100, 400, 2500)
_RUN = 200  # units of work for a run, however short


class Cloud:
    """The states at each cut point that runs on random inputs have visited."""

    def __init__(self, runs: Runs, limits: ExampleTunables):
        self._runs = runs
        self._limits = limits
        self._seen: list[set[tuple[int, ...]]] = [set() for _ in runs.blocks]
        self.points: list[list[tuple[int, ...]]] = [[] for _ in runs.blocks]

    def grow(self, budget: Budget, units: float) -> Path | None:
        """Run for so much work; a run that violates the property, if there is one."""
        until, most = budget.work + units, self._limits.seen
        while budget.work < until and min(map(len, self._seen), default=most) < most:
            budget.tick()
            blocks = self._runs.rng.choice(_BLOCKS)
            run = self._runs.interpreter.run(
                self._runs.inputs_from_start(0.1),
                watch=self._runs.blocks,
                limit=blocks,
                visit_limit=blocks,
            )
            budget.spend(_RUN + BLOCK * run.blocks)
            if run.outcome == "failed":
                return Path.of_run([value for _, value in run.inputs])
            self._add(run, self._limits.seen_of_a_run)
        return None

    def reach_far(self, graph: Graph, budget: Budget, units: float) -> None:
        """States after thousands and millions of turns, where large constants matter."""
        if max(map(abs, self._runs.constants), default=0) < self._limits.large:
            return
        from ..system.fast import CHOICES, Fast

        fast = Fast(graph)
        until = budget.work + units
        rng = self._runs.rng
        while budget.work < until:
            choose = self._runs.inputs_from_start(0.5)
            state: dict[str, int] = {}
            block, step = 0, 100
            while budget.work < until:
                budget.tick()
                run = fast.run(
                    lambda havoc, arrivals, choose=choose: choose(havoc),
                    limit=rng.randint(1, step),
                    menu=lambda havoc, choose=choose: [choose(havoc) for _ in range(CHOICES)],
                    rng=np.random.default_rng(rng.getrandbits(60)),
                    initial=state,
                    block=block,
                )
                budget.spend(_RUN + FAST_BLOCK * run.blocks)
                if run.outcome != "cut":
                    break
                state, block, step = run.state, run.block, min(2 * step, self._limits.far)
                near = self._runs.interpreter.run(
                    choose,
                    watch=self._runs.blocks,
                    limit=200,
                    initial=state,
                    block=block,
                    visit_limit=4,
                )
                budget.spend(_RUN + BLOCK * near.blocks)
                self._add(near, 4)

    def _add(self, run: Run, most: int) -> None:
        found: list[set[tuple[int, ...]]] = [set() for _ in self._seen]
        for cut, point in self._runs.visited(run):
            if point not in self._seen[cut] and max(map(abs, point), default=0) < LIMIT:
                found[cut].add(point)
        for cut, new in enumerate(found):
            room = 2 * self._limits.seen - len(self.points[cut])
            kept = self._runs.rng.sample(sorted(new), min(len(new), most, room))
            self._seen[cut].update(kept)
            self.points[cut] += kept
