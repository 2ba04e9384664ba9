"""States with arrays, of runs or of trees: what they are like at any one place of the arrays."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._tunables import ExampleTunables
from ..solve import Budget, Path, States
from ..system import Cut, Fill, Interpreter, Memory, System
from ..system.terms import Contents
from ._data import LIMIT
from ._harvest import linear
from ._runs import BLOCK, Runs

_RUN = 200  # units of work for a run, however short
_VISIT = 10  # for a state that is kept, with its arrays
_BLOCKS = (100, 400, 1500)
_PLACES = range(-1, 10)  # of arrays that are looked at, beside those that variables have
_UNSET = 9  # the size of numbers in cells that the program has not looked at
_OF_A_RUN = 8  # states of a cut point
_MOST = 100  # states of a cut point that are looked at
_POINTS = 500  # of a cut point
_WITH_PRODUCTS = 1200  # a few in a region agree with many equations of so many variables
_PLACES_OF_A_STATE = 4  # at least
_FAR = 40  # places of variables beyond it are not looked at, and no sums are formed of more
_TREES = 3  # a state of a tree takes so much more work than one of a run


class Points(ABC):
    """The states of each cut point that were seen, each at several places of its arrays.

    Those are small, or `places` that the program itself names, or what its variables are.
    """

    def __init__(
        self, system: System, names: Iterable[str], rng: random.Random, places: Iterable[int]
    ):
        self._rng = rng
        self._slots = {name: number for number, name in enumerate(names)}
        self._places = {*_PLACES, *places}
        self._states: list[list[tuple[Any, ...]]] = [[] for _ in system.cuts]
        self._numbers: Mapping[int, int] = {}

    @property
    def blind(self) -> bool:
        """Is there a cut point of which no state was seen?"""
        return not all(self._states)

    @abstractmethod
    def grow(self, budget: Budget, units: float, limits: ExampleTunables) -> Path | None:
        """See more states, for so much work; a run that fails, if there is one."""

    def points(self, cut: Cut, number: int) -> NDArray[np.int64]:
        """The states at a cut point, one a row, over the variables of a cut that may have products;
        each at some places of its arrays."""
        states = self._states[number]
        chosen = self._rng.sample(states, min(len(states), _MOST))
        each = (_WITH_PRODUCTS if cut.products else _POINTS) // max(1, len(chosen))
        found = {
            point: None
            for state in chosen
            for point in self._at(cut, state, max(_PLACES_OF_A_STATE, each))
            if max(map(abs, point), default=0) < LIMIT
        }
        table = np.array(list(found), dtype=np.int64).reshape(len(found), len(cut.plain))
        place = {name: i for i, name in enumerate(cut.plain)}
        factors = [[place[name] for name in parts] for parts in cut.products]
        sizes = np.abs(table.astype(np.float64))
        kept = np.ones(len(table), dtype=bool)
        for parts in factors:
            kept &= sizes[:, parts].prod(axis=1) < LIMIT
        table = table[kept]
        return np.column_stack([table, *(table[:, parts].prod(axis=1) for parts in factors)])

    def _at(self, cut: Cut, state: tuple[Any, ...], most: int) -> list[tuple[int, ...]]:
        """The state at some places of its arrays; once, if it has none."""
        if cut.cells is None:
            return [tuple(state[self._slots[name]] for name in cut.plain)]
        about = set(cut.cells.names)
        known = {name: state[self._slots[name]] for name in cut.plain if name not in about}
        values = tuple(known.values())
        memories = {name: state[self._slots[name]] for name in cut.cells.of}
        forms = [linear(extra.index, str)[0] for extra in cut.cells.more]
        totals: dict[str, list[int]] = {}
        found = []
        places = list(dict.fromkeys((*self._places, *(v for v in values if abs(v) < _FAR))))
        if any(extra.kind == "sum" for extra in cut.cells.more):
            places = [place for place in places if abs(place) < _FAR]
        for place in self._rng.sample(places, min(len(places), most)):
            known[cut.cells.at] = place
            cells = [self._cell(memory, place) for memory in memories.values()]
            for extra, (form, constant) in zip(cut.cells.more, forms, strict=True):
                index = self._numbers.get(constant, constant) + sum(
                    c * known[name] for name, c in form.items()
                )
                memory = memories[extra.array]
                if extra.kind == "cell":
                    cells.append(self._cell(memory, index))
                else:
                    if extra.array not in totals:
                        row = (self._cell(memory, at) for at in range(_FAR))
                        totals[extra.array] = [0, *accumulate(row)]
                    cells.append(totals[extra.array][min(max(index, 0), _FAR)])
            found.append((*values, place, *cells))
        return found

    def _cell(self, memory: Memory, place: int) -> int:
        found = memory.known(place)
        if found is None and (found := memory.decided(place)) is None:
            found = self._rng.randint(-_UNSET, _UNSET)
            found = memory.filled.cell(place).within(found) if memory.filled else found
            memory.cells[place] = found
        return found


class Sampling(Points):
    """The states of each cut point that runs have visited.

    Where a program that is only `alike` to the one in question fails, that one does after so many
    arrivals. Such programs may copy arrays, and so do those with procedures. Or it has other
    `numbers` than that one, by those.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        system: System,
        rng: random.Random,
        constants: list[int],
        *,
        places: Iterable[int] = (),
        alike: bool = False,
        numbers: Mapping[int, int] | None = None,
    ):
        super().__init__(system, interpreter.names, rng, places)
        self._numbers = numbers or {}
        self._runs = Runs(interpreter, system, rng, constants, obedient=True)
        self._alike = alike
        self._copied = alike or bool(interpreter.graph.procedures)

    def grow(self, budget: Budget, units: float, limits: ExampleTunables) -> Path | None:
        """Run for so much work; a run that fails, if there is one."""
        until = budget.work + units
        number = {block: cut for cut, block in enumerate(self._runs.blocks)}
        while budget.work < until:
            budget.tick()
            try:
                run = self._runs.interpreter.run(
                    self._runs.inputs_from_start(0.05),
                    watch=self._runs.blocks,
                    limit=self._rng.choice(_BLOCKS),
                    visit_limit=limits.blocks,
                    contents=self._contents,
                )
            except ZeroDivisionError:  # of clauses, which say nothing of it
                budget.spend(_RUN)
                continue
            budget.spend(_RUN + BLOCK * run.blocks + _VISIT * len(run.visits))
            if run.outcome == "failed":
                path = Path.of_run([value for _, value in run.inputs])
                return path if not self._alike else replace(path, arrivals=len(run.visits) + 1)
            visits: dict[int, list[tuple[Any, ...]]] = {}
            for block, state in run.visits:
                visits.setdefault(number[block], []).append(state)
            for cut, seen in visits.items():
                kept = self._rng.sample(seen, min(len(seen), _OF_A_RUN))
                self._states[cut] += [seen[-1], *kept]
                if len(self._states[cut]) > 2 * _MOST:
                    self._states[cut] = self._rng.sample(self._states[cut], _MOST)
        return None

    def far(self, budget: Budget, blocks: int) -> Path | None:
        """One run through long loops, if it fails; of the program itself only."""
        run = self._runs.interpreter.run(
            self._runs.inputs_from_start(0.05), limit=blocks, contents=self._contents
        )
        budget.spend(_RUN + BLOCK * run.blocks)
        failed = run.outcome == "failed" and not self._alike
        return Path.of_run([value for _, value in run.inputs]) if failed else None

    def _contents(self, fill: Fill) -> Callable[[int], int] | None:
        """Cells that nobody has stored in, if arrays may be copied: the same in all copies."""
        if not self._copied:
            return None
        cells: dict[int, int] = {}

        def cell(index: int) -> int:
            if index not in cells:
                cells[index] = fill.cell(index).within(self._rng.randint(-_UNSET, _UNSET))
            return cells[index]

        return cell


class Derived(Points):
    """The states of clauses with several premises, of which there are no runs but trees."""

    def __init__(
        self, system: System, budget: Budget, rng: random.Random, *, places: Iterable[int] = ()
    ):
        self._of_cuts = [
            (*cut.variables, *(bank.name for bank in cut.arrays)) for cut in system.cuts
        ]
        names = dict.fromkeys(name for each in self._of_cuts for name in each)
        super().__init__(system, names, rng, places)
        self._found = States(system, budget, rng)

    def grow(self, budget: Budget, units: float, limits: ExampleTunables) -> Path | None:
        for cut, values in self._found.some(_TREES * units):
            state: list[Any] = [None] * len(self._slots)
            for name, value in zip(self._of_cuts[cut], values, strict=True):
                known = value if isinstance(value, int) else _held(name, value)
                state[self._slots[name]] = known
            self._states[cut].append(tuple(state))
            if len(self._states[cut]) > 2 * _MOST:
                self._states[cut] = self._rng.sample(self._states[cut], _MOST)
        return None


def _held(name: str, contents: Contents) -> Memory:
    """An array of which everything is known."""
    cells, most = dict(contents.cells), contents.most
    made = Memory()
    made.refill(Fill(name, None, 0, None, None), lambda index: cells.get(index, most))
    return made
