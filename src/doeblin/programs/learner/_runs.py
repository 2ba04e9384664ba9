"""Runs of a program on random inputs: small numbers, zeros, and the program's own constants."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from .._tunables import ExampleTunables
from ..solve import Path
from ..system import Havoc, Interpreter, Run, System
from ._data import Data, Point
from ._starts import Range, Starts, demanded

BLOCK = 3  # units of work for a block of the graph, interpreted
FAST_BLOCK = 0.02  # and compiled


def chooser(
    rng: random.Random,
    constants: list[int],
    *,
    first: dict[int, int] | None = None,
    compared: dict[int, list[int]] | None = None,
    demanded: dict[int, Range] | None = None,
    wide: bool = False,
) -> Callable[[Havoc], int]:
    """A source of random inputs: small numbers, many zeros, and the program's own constants,
    above all those that an input is `compared` with; often in the range that is `demanded`."""
    zero = rng.choice((0.05, 0.3, 0.5, 0.8))
    scale = rng.choice((2, 5, 12))
    if wide and constants:
        # Deep failures often need an input of the size of the program's own constants.
        scale = rng.choice((5, 40, max(map(abs, constants)) + 5))
    given = dict(first or {})
    # A run in which each input likes one value goes where mixed inputs never come.
    loyal = rng.choice((0.0, 0.0, 0.5, 0.95, 1.0))
    liked: dict[int, int] = {}
    # Of the constants that matter to an input, each run likes some better than others.
    keen = rng.choice((0.1, 0.4, 0.9))
    weights: dict[int, list[float]] = {}
    matter = compared or {}
    ranges = demanded or {}
    obedient = rng.choice((0.0, 0.9, 1.0)) if ranges else 0.0

    def choose(havoc: Havoc) -> int:
        if havoc.site in given:
            return given.pop(havoc.site)
        if havoc.site in ranges and rng.random() < obedient:
            low, high = ranges[havoc.site]
            if low is None:
                low = (high or 0) - 2 * scale
            return havoc.within(
                rng.randint(low, max(low, low + 2 * scale if high is None else high))
            )
        if rng.random() < loyal:
            if havoc.site not in liked:
                liked[havoc.site] = some(havoc)
            return liked[havoc.site]
        return some(havoc)

    def some(havoc: Havoc) -> int:
        if havoc.site in matter and rng.random() < keen:
            values = matter[havoc.site]
            if havoc.site not in weights:
                weights[havoc.site] = [rng.random() ** 2 for _ in values]
            return havoc.within(rng.choices(values, weights[havoc.site])[0])
        draw = rng.random()
        if draw < zero:
            value = 0 if havoc.call else rng.randint(-1, 1)
        elif draw < 0.95 or not constants:
            value = rng.randint(-scale, scale) if rng.random() < 0.4 else rng.randint(0, scale)
        else:
            value = rng.choice(constants) + rng.randint(-1, 1)
        return havoc.within(value)

    return choose


class Runs:
    """What it takes to run a program: its interpreter, cut points to watch, and likely inputs."""

    def __init__(
        self,
        interpreter: Interpreter,
        system: System,
        rng: random.Random,
        constants: list[int],
        *,
        obedient: bool = False,
    ):
        self._demanded = demanded(system) if obedient else {}
        self.interpreter = interpreter
        self.system = system
        self.rng = rng
        self.constants = constants
        self.starts = Starts(system)
        self.blocks = [cut.block for cut in system.cuts]
        index = {name: i for i, name in enumerate(interpreter.names)}
        self._columns = [
            [[index[n] for n in parts] for parts in (*((n,) for n in cut.plain), *cut.products)]
            if cut.cells is None
            else []  # such states are for `Sampling`
            for cut in system.cuts
        ]

    def inputs(
        self, first: dict[int, int] | None = None, *, wide: bool = False
    ) -> Callable[[Havoc], int]:
        """A source of inputs; `first` gives values to the first use of some sites."""
        return chooser(
            self.rng,
            self.constants,
            first=first,
            compared=self.starts.compared,
            demanded=self._demanded,
            wide=wide,
        )

    def inputs_from_start(self, anywhere: float) -> Callable[[Havoc], int]:
        """Inputs that take a run into the first loop, most often."""
        return self.inputs(self.starts.draw(self.rng, anywhere=anywhere))

    def visited(self, run: Run) -> list[Point]:
        """The states of a run at cut points, over each cut's variables."""
        number = {block: cut for cut, block in enumerate(self.blocks)}
        return [
            (
                number[b],
                tuple(math.prod(state[i] for i in part) for part in self._columns[number[b]]),
            )
            for b, state in run.visits
        ]

    def follow(self, cut: int, point: tuple[int, ...]) -> list[Point]:
        """States at cut points that the program comes to from one, on some inputs."""
        here = self.system.cuts[cut]
        if here.products:
            return []
        run = self.interpreter.run(
            self.inputs(),
            watch=self.blocks,
            limit=400,
            initial=dict(zip(here.variables, point, strict=True)),
            block=here.block,
            visit_limit=24,
        )
        return self.visited(run)[1:]

    def record(self, data: Data, first: dict[int, int] | None, limits: ExampleTunables) -> int:
        """One run, whose states at cut points become examples; how many blocks it took."""
        inputs = self.inputs(first)
        marks: list[int] = []
        taken: list[int] = []

        def record(havoc: Havoc) -> int:
            taken.append(inputs(havoc))
            return taken[-1]

        run = self.interpreter.run(
            record,
            watch=self.blocks,
            limit=limits.blocks,
            arrive=lambda block: marks.append(len(taken)),
            visit_limit=limits.blocks,
        )
        if run.outcome == "failed":
            data.failure = data.failure or Path.of_run(taken)
            return run.blocks
        chosen = list(range(len(run.visits)))
        if len(chosen) > limits.kept:
            some = self.rng.sample(chosen, limits.kept // 3)
            chosen = sorted({*chosen[: limits.kept // 2], *chosen[-4:], *some})
        points = self.visited(run)
        for position in chosen:
            data.add_run(*points[position], tuple(taken[: marks[position]]), position + 1)
        return run.blocks
