"""Runs of a program with arrays: what its states are like, at any one place of the arrays."""

from __future__ import annotations

import math
import random
from typing import Any

from .._tunables import ExampleTunables
from ..solve import Budget, Path
from ..system import Cut, Interpreter, Memory, System
from ..system.terms import evaluate
from ._data import LIMIT
from ._runs import BLOCK, Runs

_RUN = 200  # units of work for a run, however short
_BLOCKS = (100, 400, 1500)
_PLACES = range(-1, 10)  # of arrays that are looked at, beside those that variables have
_UNSET = 9  # the size of numbers in cells that the program has not looked at
_OF_A_RUN = 40  # states
_MOST = 6000
_FAR = 40  # places beyond it are not looked at


class Sampling:
    """The states of each cut point that runs have visited, each at several places of its arrays."""

    def __init__(
        self, interpreter: Interpreter, system: System, rng: random.Random, constants: list[int]
    ):
        self._runs = Runs(interpreter, system, rng, constants)
        self._rng = rng
        self._cuts = system.cuts
        self._slots = {name: number for number, name in enumerate(interpreter.names)}
        self._seen: list[dict[tuple[int, ...], None]] = [{} for _ in system.cuts]

    def points(self, cut: Cut, number: int) -> list[tuple[int, ...]]:
        """The states at a cut point, which may have fewer variables, and products."""
        place = {name: i for i, name in enumerate(self._cuts[number].variables)}
        kept = [place[name] for name in cut.plain]
        chosen = dict.fromkeys(tuple(point[i] for i in kept) for point in self._seen[number])
        return [self._with_products(cut, point) for point in chosen]

    def grow(self, budget: Budget, units: float, limits: ExampleTunables) -> Path | None:
        """Run for so much work; a run that fails, if there is one."""
        until = budget.work + units
        while budget.work < until:
            budget.tick()
            run = self._runs.interpreter.run(
                self._runs.inputs_from_start(0.05),
                watch=self._runs.blocks,
                limit=self._rng.choice(_BLOCKS),
                visit_limit=limits.blocks,
            )
            budget.spend(_RUN + BLOCK * run.blocks)
            if run.outcome == "failed":
                return Path.of_run([value for _, value in run.inputs])
            visits = run.visits
            if len(visits) > _OF_A_RUN:
                last = visits[-4:]
                visits = [*self._rng.sample(visits, _OF_A_RUN - len(last)), *last]
            number = {block: cut for cut, block in enumerate(self._runs.blocks)}
            for block, state in visits:
                self._add(number[block], state)
        return None

    def _add(self, number: int, state: tuple[Any, ...]) -> None:
        cut, seen = self._cuts[number], self._seen[number]
        if len(seen) >= _MOST:
            return
        for point in self.at(cut, state):
            if max(map(abs, point), default=0) < LIMIT:
                seen[point] = None

    def at(self, cut: Cut, state: tuple[Any, ...]) -> list[tuple[int, ...]]:
        """The state at places of its arrays; once, if it has none."""
        if cut.cells is None:
            return [tuple(state[self._slots[name]] for name in cut.plain)]
        about = set(cut.cells.names)
        known = {name: state[self._slots[name]] for name in cut.variables if name not in about}
        values = tuple(known.values())
        places = dict.fromkeys((*_PLACES, *(v for v in values if abs(v) < _FAR)))
        memories = {name: state[self._slots[name]] for name in cut.cells.of}
        found = []
        for place in places:
            cells = [self._cell(memory, place) for memory in memories.values()]
            for extra in cut.cells.more:
                index = int(evaluate(extra.index, known | {cut.cells.at: place}))
                cells.append(self._extra(memories[extra.array], index, extra.kind))
            found.append((*values, place, *cells))
        return found

    def _extra(self, memory: Memory, index: int, kind: str) -> int:
        if kind == "cell":
            return self._cell(memory, index)
        return sum(self._cell(memory, place) for place in range(min(index, _FAR)))

    def _with_products(self, cut: Cut, point: tuple[int, ...]) -> tuple[int, ...]:
        if not cut.products:
            return point
        known = dict(zip(cut.plain, point, strict=True))
        return (*point, *(math.prod(known[n] for n in parts) for parts in cut.products))

    def _cell(self, memory: Memory, place: int) -> int:
        found = memory.known(place)
        if found is None:
            found = self._rng.randint(-_UNSET, _UNSET)
            found = memory.filled.cell(place).within(found) if memory.filled else found
            memory.cells[place] = found
        return found
