"""Arrays by their cells: from a system with arrays to one of integers (cell morphing).

A state with an array a becomes (s, k, a[k]): its invariant holds for every index k. What a step reads
are cells of the state before it, each an instance of that state's invariant at the index read; the
state after it is looked at in one place k, where the step has changed the array or not. Instances at
equal indices have equal cells. So a proof over the integers is a proof of the program; that it may
need more than single cells to speak of is all that is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from ._system import Bank, Cells, Clause, Cut, Input, Premise, System
from .terms import (
    Term,
    alike,
    compare,
    conj,
    const,
    fold,
    implies,
    ite,
    postorder,
    rebuild,
    smtlib,
    truth,
    var,
    variables,
)

_LARGE = 60  # nodes of a term
_NAMES = ("k", "j", "m", "p", "q", "cell")


def with_cells(system: System) -> System:
    """The system over integers; clauses and cuts keep their numbers."""
    if not any(cut.arrays for cut in system.cuts) and not any(c.banks for c in system.clauses):
        return system
    index = _index(system)
    cuts = tuple(_with_cells(cut, index) for cut in system.cuts)
    clauses = tuple(_Step(clause, cuts, index).clause() for clause in system.clauses)
    return System(cuts, clauses, system.open)


def _index(system: System) -> str:
    """A name for the index that no cut uses."""
    used = {name for cut in system.cuts for name in (*cut.variables, *cut.shown)}
    for clause in system.clauses:
        used |= variables(clause.constraint, *clause.args)
    return next(name for name in (*_NAMES, "cell#") if name not in used)


def _with_cells(cut: Cut, index: str) -> Cut:
    if not cut.arrays:
        return cut
    cells = Cells(index, {bank.name: f"{bank.name}[{index}]" for bank in cut.arrays})
    shown = [f"{_shown(bank)}[{index}]" for bank in cut.arrays]
    return replace(
        cut,
        variables=(*cut.variables, index, *cells.of.values()),
        shown=(*cut.shown, index, *shown),
        ranges=(*cut.ranges, (None, None), *((bank.low, bank.high) for bank in cut.arrays)),
        cells=cells,
    )


def _shown(bank: Bank) -> str:
    return bank.variable.partition("#")[0]


def _text(index: Term) -> str:
    """The same for equal terms, unless they are large."""
    nodes = sum(1 for _ in islice(postorder(index), _LARGE))
    return smtlib(index) if nodes < _LARGE else f"{id(index)}"


class _Step:
    """A clause on its way to integers: the places of arrays that it looks at."""

    def __init__(self, clause: Clause, cuts: tuple[Cut, ...], index: str):
        self._clause = clause
        self._cuts = cuts
        self._index = index
        self._source = cuts[clause.source] if clause.source is not None else None
        if self._source is not None and self._source.cells is None:
            self._source = None
        self._places: dict[str, tuple[Term, str]] = {index: (var(index), "")} if self._source else {}
        self._banks = {bank.name: bank for bank in clause.banks}
        self._free: dict[tuple[str, str], tuple[Term, str]] = {}
        self._found: dict[tuple[int, str], Term] = {}
        self._kept: list[Term] = []

    def clause(self) -> Clause:
        clause = self._clause
        constraint = self._flat(clause.constraint)
        args = [self._flat(arg) for arg in clause.args]
        target = self._cuts[clause.target] if clause.target is not None else None
        inputs = list(clause.inputs)
        if target is not None and target.cells is not None:
            here = var(self._index)
            args += [here, *(self._cell(self._flat(held), here) for held in clause.arrays)]
            if self._source is None:
                inputs.append(Input(self._index))
        constraint = conj((constraint, *self._agreeing(), *self._within()))
        inputs += [Input(name) for _, name in self._free.values()]
        return replace(
            clause,
            premises=(*self._instances(), *self._others()),
            constraint=constraint,
            args=tuple(args),
            inputs=tuple(inputs),
            banks=(),
            arrays=(),
        )

    # ---- terms

    def _flat(self, term: Term) -> Term:
        """The term over integers. Arrays in it are left for the cells that are taken of them."""

        def combine(node: Term, args: list[Term]) -> Term:
            if node.op == "select":
                return self._cell(args[0], args[1])
            if all(new is old for new, old in zip(args, node.args, strict=True)):
                return node
            return rebuild(node, args)

        return fold(term, combine)

    def _cell(self, held: Term, index: Term) -> Term:
        """What an array of flat terms has at an index."""
        key = (id(held), _text(index))
        found = self._found.get(key)
        if found is None:
            if held.op == "store":
                before, at, value = held.args
                same = alike(at, index)
                test = compare("=", at, index) if same is None else truth(same)
                found = ite(test, value, self._cell(before, index) if not same else value)
            elif held.op == "ite":
                condition, yes, no = held.args
                found = ite(condition, self._cell(yes, index), self._cell(no, index))
            elif held.op == "fill":
                found = held.args[0]
            else:
                found = var(self._name(held.leaf, index))
            self._found[key] = found
            self._kept += (held, index)
        return found

    def _name(self, leaf: str, index: Term) -> str:
        """The variable for a cell of an array that is the source's, or free."""
        text = _text(index)
        if leaf in self._banks:
            key = (leaf, text)
            if key not in self._free:
                self._free[key] = (index, f"{leaf}[{len(self._free)}]")
            return self._free[key][1]
        assert self._source is not None and self._source.cells is not None
        if text not in self._places:
            self._places[text] = (index, f"#{len(self._places)}")
        return self._source.cells.of[leaf] + self._places[text][1]

    # ---- what is known of cells

    def _instances(self) -> list[Premise]:
        """The invariant of the source, at each place."""
        clause = self._clause
        if self._source is None or self._source.cells is None:
            return [*clause.premises[:1]]
        plain = clause.premises[0].names
        cells = (self._source.cells.index, *self._source.cells.of.values())
        return [
            Premise(clause.premises[0].cut, (*plain, *(f"{name}{mark}" for name in cells)))
            for _, mark in self._places.values()
        ]

    def _others(self) -> tuple[Premise, ...]:
        return self._clause.premises[1:]

    def _agreeing(self) -> Iterable[Term]:
        """Where instances are, and that those at one place agree."""
        found = []
        if self._source is not None and self._source.cells is not None:
            places = list(self._places.values())
            for number, (index, mark) in enumerate(places):
                if mark:
                    found.append(compare("=", var(self._index + mark), index))
                for _, other in places[:number]:
                    same = compare("=", var(self._index + mark), var(self._index + other))
                    names = self._source.cells.of.values()
                    equal = [compare("=", var(n + mark), var(n + other)) for n in names]
                    found.append(implies(same, conj(equal)))
        free = [(leaf, *item) for (leaf, _), item in self._free.items()]
        for number, (leaf, index, name) in enumerate(free):
            for other, place, cell in free[:number]:
                if other == leaf:
                    found.append(
                        implies(compare("=", index, place), compare("=", var(name), var(cell)))
                    )
        return found

    def _within(self) -> Iterable[Term]:
        """The ranges of cells that are free."""
        for (leaf, _), (_, name) in self._free.items():
            bank = self._banks[leaf]
            if bank.low is not None:
                yield compare("<=", const(bank.low), var(name))
            if bank.high is not None:
                yield compare("<=", var(name), const(bank.high))
