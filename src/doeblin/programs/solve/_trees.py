"""Bounded search for a refutation where clauses have several premises: trees of clause instances.

A tree of some height has a clause with the conclusion false at its root, and at each premise a
clause that concludes it. All trees of a height are one formula: at each place flags choose among
the clauses that fit there, and alternatives share the places below them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import z3

from ..system import Clause, System
from ..system.terms import Translator, array, substitute, var
from ._budget import SECOND, Budget
from ._paths import Path

_MOST = 3000  # copies of clauses
_WRITING = 2000  # units of work to write down a clause once more
_SMALL = SECOND / 2  # work to find a refutation with small numbers, too


class Trees:
    """Looks at one height after the other; `finished` when there are no higher trees, or when the
    formula would be too long."""

    def __init__(self, system: System, budget: Budget):
        self.system = system
        self.budget = budget
        self.depth = 0
        self.exhausted = False
        self.finished = False
        self._least = least_heights(system)

    def deepen(self, units: float) -> Path | None:
        """Look for a refutation by a tree that is one higher; a derivation when there is one.

        `exhausted` is set when the solver did not answer with so much work; the next call tries
        again.
        """
        self.exhausted = False
        try:
            tree = Tree(self.system, self.budget, self._least, self.depth + 1)
            path = tree.refutation(units)
            self.exhausted = tree.exhausted
        except TooMany:
            self.exhausted = self.finished = True
            return None
        except z3.Z3Exception:
            self.budget.tick()
            self.exhausted = True
            return None
        if path is None and not self.exhausted:
            self.depth += 1
            self.finished = tree.whole
        return path


def least_heights(system: System) -> list[float]:
    """Of each cut, the least height of a tree that could derive a state there."""
    found = [math.inf] * len(system.cuts)
    changed = True
    while changed:
        changed = False
        for clause in system.clauses:
            height = 1 + max(clause.at_premises(found), default=0)
            if clause.target is not None and height < found[clause.target]:
                found[clause.target], changed = height, True
    return found


class TooMany(Exception):
    """The formula would be too long."""


class Option(NamedTuple):
    """A clause at a place: its flag, the names of its variables there, and the places below."""

    clause: int
    flag: Any
    names: dict[str, str]
    arrays: dict[str, str]
    below: list[Place]


class Place(NamedTuple):
    """Where an instance of a clause stands, and the names of the state that it concludes."""

    options: list[Option]
    state: tuple[str, ...]
    arrays: tuple[str, ...]
    used: Any


class Tree:
    """All trees of a height with one root: false, or a state of a cut."""

    def __init__(
        self,
        system: System,
        budget: Budget,
        least: list[float],
        height: int,
        *,
        root: int | None = None,
        most: int = _MOST,
    ):
        self.exhausted = False
        self._most = most
        self.whole = True  # no clause was left out because the tree is too low for it
        self._copies = 0
        self._system = system
        self._budget = budget
        self._least = least
        context = budget.context()
        self._context = context
        self.translate = Translator(context)
        self.solver = budget.solver(context)
        self.names: list[str] = []
        self.banks: list[str] = []
        self.root = self._place(root, height, "r")
        self.solver.add(self.root.used)

    def refutation(self, units: float) -> Path | None:
        answer = self._budget.ask(self.solver, units)
        self.exhausted = answer == "unknown"
        if answer != "sat":
            return None
        path = self._path(self.solver.model())
        for bound in (9, 1000):
            self.solver.push()
            for name in self.names:
                x = self.translate.constant(name)
                self.solver.add(x <= bound, x >= -bound)
            small = self._budget.ask(self.solver, _SMALL) == "sat"
            if small:
                path = self._path(self.solver.model())
            self.solver.pop()
            if small:
                break
        return path

    def _fitting(self, cut: int | None, height: int) -> Iterator[tuple[int, Clause]]:
        for index, clause in enumerate(self._system.clauses):
            if clause.target == cut:
                least = max(clause.at_premises(self._least), default=0)
                if least < height:
                    yield index, clause
                elif least < math.inf:
                    self.whole = False

    def _place(self, cut: int | None, height: int, name: str) -> Place:
        """A place for a clause that concludes a cut (None: false), with all that is below it."""
        state = self._system.cuts[cut].variables if cut is not None else ()
        banks = self._system.cuts[cut].arrays if cut is not None else ()
        here = tuple(f"{variable}@{name}" for variable in state)
        held = tuple(f"{bank.name}@{name}" for bank in banks)
        self.names += here
        used = z3.Bool(f"used@{name}", self._context)
        shared: dict[tuple[int, int], Place] = {}
        options = []
        for index, clause in self._fitting(cut, height):
            self._copies += 1
            if self._copies > self._most:
                raise TooMany
            self._budget.tick()
            self._budget.spend(_WRITING)
            below, counts = [], dict[int, int]()
            for premise in clause.premises:
                counts[premise.cut] = number = counts.get(premise.cut, -1) + 1
                key = (premise.cut, number)
                if key not in shared:
                    inner = f"{name}.{premise.cut}:{number}"
                    shared[key] = self._place(premise.cut, height - 1, inner)
                below.append(shared[key])
            option = self._option(index, clause, name, below)
            options.append(option)
            self._conclude(option, here, held)
        flags = [option.flag for option in options]
        self.solver.add(z3.Implies(used, z3.Or(*flags, self._context)))
        return Place(options, here, held, used)

    def _option(self, index: int, clause: Clause, name: str, below: list[Place]) -> Option:
        names = {own: f"{own}@{name}!{index}" for own in clause.names()}
        banks = {bank.name: f"{bank.name}@{name}!{index}" for bank in clause.banks}
        self.names += names.values()
        self.banks += banks.values()
        for premise, place in zip(clause.premises, below, strict=True):
            names |= zip(premise.names, place.state, strict=True)
            banks |= zip(premise.arrays, place.arrays, strict=True)
        flag = z3.Bool(f"use{index}@{name}", self._context)
        return Option(index, flag, names, banks, below)

    def _conclude(self, option: Option, here: tuple[str, ...], held: tuple[str, ...]) -> None:
        """What it says that the clause is chosen, of the state that it concludes."""
        clause = self._system.clauses[option.clause]
        rename = {own: var(new) for own, new in option.names.items()}
        rename |= {own: array(new) for own, new in option.arrays.items()}
        body = [self.translate(substitute(clause.constraint, rename))]
        for variable, arg in zip(here, clause.args, strict=True):
            value = self.translate(substitute(arg, rename))
            body.append(self.translate.constant(variable) == value)
        for bank, arg in zip(held, clause.arrays, strict=True):
            value = self.translate(substitute(arg, rename))
            body.append(self.translate.array(bank) == value)
        body += [place.used for place in option.below]
        self.solver.add(z3.Implies(option.flag, z3.And(*body, self._context)))

    def _path(self, model: Any) -> Path:
        """The instances that the model chooses, each once, after those that it builds on."""
        steps: list[tuple[int, dict[str, int]]] = []
        premises: list[tuple[int, ...]] = []
        numbers: dict[tuple[Any, ...], int] = {}

        def walk(place: Place) -> int:
            option = next(
                option
                for option in place.options
                if z3.is_true(model.eval(option.flag, model_completion=True))
            )
            built = tuple(walk(inner) for inner in option.below)
            values = {}
            for own, name in option.names.items():
                value = model.eval(self.translate.constant(name), model_completion=True)
                values[own] = value.as_long() if z3.is_int_value(value) else 0
            key = (option.clause, built, *values.items())
            if key not in numbers:
                numbers[key] = len(steps)
                steps.append((option.clause, values))
                premises.append(built)
            return numbers[key]

        walk(self.root)
        return Path(tuple(steps), premises=tuple(premises))
