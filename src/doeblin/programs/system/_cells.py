"""Arrays by their cells: from a system with arrays to one of integers (cell morphing).

A state with an array a becomes (s, k, a[k]): its invariant holds for every index k. What a step
reads are cells of the state before it, each an instance of that state's invariant at its index;
the state after it is looked at in one place k, where the step has changed the array or not.
Instances at equal indices have equal cells. So a proof over the integers is a proof of the program;
that it may need more than single cells to speak of is all that is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice

from ._system import Bank, Cells, Clause, Cut, Extra, Input, Premise, System
from .terms import (
    ZERO,
    Term,
    add,
    alike,
    c_text,
    compare,
    conj,
    const,
    fold,
    holds_cells,
    implies,
    ite,
    mul,
    postorder,
    rebuild,
    smtlib,
    sub,
    substitute,
    truth,
    var,
    variables,
)

_LARGE = 60  # nodes of a term
_NAMES = ("k", "j", "m", "p", "q", "cell")


Wanted = Callable[[Cut, str], tuple[Extra, ...]]
_Place = tuple[Term, str]  # an index, and what marks the variables of the instance there


def with_cells(system: System, wanted: Wanted = lambda cut, index: ()) -> System:
    """The system over integers; clauses and cuts keep their numbers. States are also looked at by
    what is `wanted` of a cut."""
    if not system.cellular:
        return system
    index = _index(system)
    cuts = tuple(_with_cells(cut, index, wanted) for cut in system.cuts)
    clauses = tuple(_Step(clause, cuts, index).clause() for clause in system.clauses)
    return System(cuts, clauses, system.open)


def _index(system: System) -> str:
    """A name for the index that no cut uses."""
    used = {name for cut in system.cuts for name in (*cut.variables, *cut.shown)}
    for clause in system.clauses:
        used |= variables(clause.constraint, *clause.args, *clause.arrays)
        used |= {name for premise in clause.premises for name in premise.names}
    return next(name for name in (*_NAMES, "cell#") if name not in used)


def _with_cells(cut: Cut, index: str, wanted: Wanted) -> Cut:
    if not cut.arrays:
        return cut
    names = {bank.name: f"{bank.name}[{index}]" for bank in cut.arrays}
    cells = Cells(index, names, wanted(cut, index))
    ranges = {bank.name: (bank.low, bank.high) for bank in cut.arrays}
    free = (None, None)
    ranged = [extra.kind == "cell" and not extra.near for extra in cells.more]
    more = [
        ranges[extra.array] if flag else free
        for extra, flag in zip(cells.more, ranged, strict=True)
    ]
    known = dict(zip((*cut.variables, index), (*cut.shown, index), strict=True))
    banks = {bank.name: bank for bank in cut.arrays}
    shown = [_shown(bank, var(index), known) for bank in cut.arrays]
    beside = [_shown(banks[e.array], e.index, known, e.kind) for e in cells.more]
    return replace(
        cut,
        variables=(*cut.variables, *cells.names),
        shown=(*cut.shown, index, *shown, *beside),
        ranges=(*cut.ranges, free, *ranges.values(), *more),
        cells=cells,
    )


def _shown(bank: Bank, index: Term, known: dict[str, str], kind: str = "cell") -> str:
    array = bank.variable.partition("#")[0]
    if kind == "sum":
        array += f" from {known[bank.base]}" if bank.base is not None else ""
        return f"sum({array}, {c_text(index, lambda name: known[name])})"
    at = index if bank.base is None else add(var(bank.base), index)
    return f"{array}[{c_text(at, lambda name: known[name])}]"


def _text(index: Term) -> str:
    """The same for equal terms, unless they are large."""
    nodes = sum(1 for _ in islice(postorder(index), _LARGE))
    return smtlib(index) if nodes < _LARGE else f"{id(index)}"


@dataclass(frozen=True, slots=True)
class _Known:
    """A cell of an array, or the sum of those before it, and the variable that has it."""

    array: str
    index: Term
    cell: str | None
    sum: str | None


class _Step:
    """A clause on its way to integers: the places of arrays that it looks at."""

    def __init__(self, clause: Clause, cuts: tuple[Cut, ...], index: str):
        self._clause = clause
        self._cuts = cuts
        self._index = index
        source = cuts[clause.source] if clause.source is not None else None
        self._cells = source.cells if source is not None else None
        self._plain = clause.premises[0].names if clause.premises else ()
        self._places: dict[str, _Place] = {index: (var(index), "")} if self._cells else {}
        self._banks = {bank.name: bank for bank in clause.banks}
        self._free: dict[tuple[str, str], _Known] = {}
        self._found: dict[tuple[int, str, str], Term] = {}
        self._kept: list[Term] = []

    def clause(self) -> Clause:
        clause = self._clause
        parts = clause.constraint.args if clause.constraint.op == "and" else (clause.constraint,)
        equal = [part for part in parts if part.op == "=" and holds_cells(part.args[0])]
        constraint = self._flat(conj(part for part in parts if part not in equal))
        args = [self._flat(arg) for arg in clause.args]
        target = self._cuts[clause.target] if clause.target is not None else None
        inputs = list(clause.inputs)
        if target is not None and target.cells is not None:
            args += self._arrived(target, args)
            if self._cells is None:
                inputs.append(Input(self._index))
        looked = target is not None and target.cells is not None
        constraint = conj((constraint, *self._equal(equal, looked)))
        instances, known = self._instances()
        known += self._free.values()
        constraint = conj((constraint, *self._indexed(), *_agreeing(known), *self._within()))
        for item in self._free.values():
            inputs += [Input(name) for name in (item.cell, item.sum) if name is not None]
        return replace(
            clause,
            premises=(*instances, *clause.premises[1:]),
            constraint=constraint,
            args=tuple(args),
            inputs=tuple(inputs),
            banks=(),
            arrays=(),
        )

    def _arrived(self, target: Cut, args: list[Term]) -> list[Term]:
        """The target's cells, of the arrays as the step leaves them."""
        assert target.cells is not None
        names = [bank.name for bank in target.arrays]
        arrays = dict(zip(names, map(self._flat, self._clause.arrays), strict=True))
        here = var(self._index)
        found = [here, *(self._cell(arrays[name], here) for name in target.cells.of)]
        state = dict(zip(target.variables, (*args, here), strict=False))
        for extra in target.cells.more:
            index = substitute(extra.index, state)
            take = self._cell if extra.kind == "cell" else self._sum
            found.append(take(arrays[extra.array], index))
        return found

    def _equal(self, equations: list[Term], looked: bool) -> Iterable[Term]:
        """Arrays that are equal have equal cells in all places that are looked at; of the target,
        too, if any are."""
        if not equations:
            return
        sides = [tuple(map(self._flat, part.args)) for part in equations]
        places = {_text(index): index for index, _ in self._places.values()}
        places |= {_text(known.index): known.index for known in self._free.values()}
        if looked:
            here = var(self._index)
            places[_text(here)] = here
        for index in places.values():
            for one, other in sides:
                yield compare("=", self._cell(one, index), self._cell(other, index))

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
        key = (id(held), "cell", _text(index))
        found = self._found.get(key)
        if found is None:
            if held.op == "store":
                before, at, value = held.args
                same = alike(at, index)
                test = compare("=", at, index) if same is None else truth(same)
                found = ite(test, value, value if same else self._cell(before, index))
            elif held.op == "ite":
                condition, yes, no = held.args
                found = ite(condition, self._cell(yes, index), self._cell(no, index))
            elif held.op == "fill":
                found = held.args[0]
            else:
                found = var(self._known(held.leaf, index).cell or "")
            self._found[key] = found
            self._kept += (held, index)
        return found

    def _sum(self, held: Term, index: Term) -> Term:
        """The sum of the cells from 0 up to an index."""
        key = (id(held), "sum", _text(index))
        found = self._found.get(key)
        if found is None:
            if held.op == "store":
                before, at, value = held.args
                inside = conj((compare("<=", ZERO, at), compare("<", at, index)))
                change = ite(inside, sub(value, self._cell(before, at)), ZERO)
                found = add(self._sum(before, index), change)
            elif held.op == "ite":
                condition, yes, no = held.args
                found = ite(condition, self._sum(yes, index), self._sum(no, index))
            elif held.op == "fill":
                positive = compare("<", ZERO, index)
                found = ite(positive, mul(held.args[0], index), ZERO)
            else:
                found = var(self._known(held.leaf, index, sums=True).sum or "")
            self._found[key] = found
            self._kept += (held, index)
        return found

    def _known(self, leaf: str, index: Term, *, sums: bool = False) -> _Known:
        """The variables for a place of an array that is the source's, or free."""
        text = _text(index)
        if leaf in self._banks:
            before = self._free.get((leaf, text))
            name = f"{leaf}[{len(self._free)}]" if before is None else str(before.cell)
            added = sums or (before is not None and before.sum is not None)
            made = _Known(leaf, index, name, f"sum {name}" if added else None)
            self._free[leaf, text] = made
            return made
        assert self._cells is not None
        if text not in self._places:
            self._places[text] = (index, f"#{len(self._places)}")
        return self._instance(leaf, *self._places[text])

    # ---- what is known of cells

    def _instance(self, leaf: str, index: Term, mark: str) -> _Known:
        """An array at the place of an instance."""
        assert self._cells is not None
        sums = [
            extra.name
            for extra in self._cells.more
            if extra.kind == "sum" and extra.array == leaf and _names(extra.index, self._index)
        ]
        name = f"{sums[0]}{mark}" if sums else None
        return _Known(leaf, index, self._cells.of[leaf] + mark, name)

    def _instances(self) -> tuple[list[Premise], list[_Known]]:
        """The invariant of the source at each place, and what the places have."""
        clause, cells = self._clause, self._cells
        if cells is None:
            return [*clause.premises[:1]], []
        premises, known = [], []
        for _, mark in self._places.values():
            # What does not depend on the place is the same in every instance.
            about = [f"{name}{mark}" if name in cells.local else name for name in cells.names]
            names = (*self._plain, *about)
            premises.append(Premise(clause.premises[0].cut, names))
            here = var(self._index + mark)
            known += [self._instance(leaf, here, mark) for leaf in cells.of]
            for extra in cells.more:
                local = extra.name in cells.local
                if not _names(extra.index, self._index) and (local or not mark):
                    index = substitute(extra.index, {self._index: here})
                    name = extra.name + mark if local else extra.name
                    one = (name, None) if extra.kind == "cell" else (None, name)
                    known.append(_Known(extra.array, index, *one))
        return premises, known

    def _indexed(self) -> Iterable[Term]:
        """Where the instances are."""
        for index, mark in self._places.values():
            if mark:
                yield compare("=", var(self._index + mark), index)

    def _within(self) -> Iterable[Term]:
        """The ranges of cells that are free."""
        for item in self._free.values():
            bank, cell = self._banks[item.array], var(item.cell or "")
            if bank.low is not None:
                yield compare("<=", const(bank.low), cell)
            if bank.high is not None:
                yield compare("<=", cell, const(bank.high))


def _names(index: Term, name: str) -> bool:
    return index.op == "var" and index.leaf == name


def _agreeing(known: list[_Known]) -> Iterable[Term]:
    """Of one array, equal places have equal cells and sums; a sum goes on by the cell at its end,
    and is zero up to place zero."""
    for number, one in enumerate(known):
        if one.sum is not None:
            below = compare("<=", one.index, ZERO)
            yield implies(below, compare("=", var(one.sum), ZERO))
        for other in known[:number]:
            if other.array == one.array:
                yield from _two(one, other)


def _two(one: _Known, other: _Known) -> Iterable[Term]:
    apart = alike(one.index, other.index) is False
    same = compare("=", one.index, other.index)
    equal = [
        compare("=", var(a), var(b))
        for a, b in ((one.cell, other.cell), (one.sum, other.sum))
        if a is not None and b is not None and a != b
    ]
    if equal and not apart:
        yield implies(same, conj(equal))
    for first, second in ((one, other), (other, one)):
        if first.sum is None or second.sum is None or first.cell is None:
            continue
        following = conj(
            (
                compare("<=", ZERO, first.index),
                compare("=", second.index, add(first.index, const(1))),
            )
        )
        total = add(var(first.sum), var(first.cell))
        yield implies(following, compare("=", var(second.sum), total))
