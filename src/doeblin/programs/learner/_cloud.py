"""Many reachable states, only to look at: what bounds and equations could hold.

Examples for the search are few, because every one costs it time. Here a state costs nothing but
the run that visits it, so candidates for lemmas are held against hundreds.
"""

from __future__ import annotations

import random

from ..flow import Interpreter, System
from ..proof import Clock
from ._data import LIMIT
from ._seed import FailedRun, chooser, visited
from ._starts import Starts

_EACH = 12  # states of a run at a cut point
_MOST = 800
_BLOCKS = (100, 400, 2500)


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
        self.points: list[list[tuple[int, ...]]] = [[] for _ in system.cuts]

    def grow(self, clock: Clock, seconds: float) -> None:
        """Run for so long; FailedRun is raised when a run violates the property."""
        until = clock.seconds + seconds
        seen = [set(points) for points in self.points]
        while clock.seconds < until and min(map(len, seen), default=_MOST) < _MOST:
            clock.tick()
            found: list[set[tuple[int, ...]]] = [set() for _ in seen]
            for cut, point in self._run():
                found[cut].add(point)
            for cut, points in enumerate(found):
                new = [p for p in points - seen[cut] if max(map(abs, p), default=0) < LIMIT]
                kept = self._rng.sample(sorted(new), min(len(new), _EACH))
                seen[cut].update(kept)
                self.points[cut] += kept[: _MOST - len(self.points[cut])]

    def _run(self) -> list[tuple[int, tuple[int, ...]]]:
        rng = self._rng
        blocks = rng.choice(_BLOCKS)
        run = self._interpreter.run(
            chooser(rng, self._constants, first=self._starts.draw(rng)),
            watch=[cut.block for cut in self._system.cuts],
            limit=blocks,
            visit_limit=blocks,
        )
        if run.outcome == "failed":
            raise FailedRun(tuple(value for _, value in run.inputs))
        return visited(self._interpreter, self._system, run)
