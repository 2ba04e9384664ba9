"""Arrays by their cells: from a system with arrays to one of integers (cell morphing).

A state with an array a becomes (s, k, a[k]): its invariant holds for every index k. What a step
reads are cells of the state before it, each an instance of that state's invariant at its index;
the state after it is looked at in one place k, where the step has changed the array or not.
Instances at equal indices have equal cells. So a proof over the integers is a proof of the program;
that it may need more than single cells to speak of is all that is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ._instances import Known, Source, agreeing, text_of
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
    ite,
    mul,
    postorder,
    rebuild,
    sub,
    substitute,
    truth,
    var,
    variables,
)

_FEW = 4  # constants that are indices
_NAMES = ("k", "j", "m", "p", "q", "cell")


Wanted = Callable[[Cut, str], tuple[Extra, ...]]


def with_cells(
    system: System,
    wanted: Wanted = lambda cut, index: (),
    tick: Callable[[], None] = lambda: None,
) -> System:
    """The system over integers; clauses and cuts keep their numbers. States are also looked at by
    what is `wanted` of a cut. `tick` is called often and may raise to stop the work. Where there is
    floating point as well, nothing is done: no strategy is for both."""
    if not system.cellular or system.floating:
        return system
    index = _index(system)
    cuts = tuple(_with_cells(cut, index, wanted) for cut in system.cuts)
    named = _named(system)
    clauses = tuple(_Step(clause, cuts, index, named, tick).clause() for clause in system.clauses)
    return System(cuts, clauses, system.open)


def _named(system: System) -> dict[str, Term]:
    """The constants that are indices, if they are few."""
    found = {
        text_of(node.args[1]): node.args[1]
        for clause in system.clauses
        for node in postorder(clause.constraint, *clause.args, *clause.arrays)
        if node.op in ("select", "store") and node.args[1].constant
    }
    return found if len(found) <= _FEW else {}


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
    array = bank.shown
    if kind == "sum":
        array += f" from {known[bank.base]}" if bank.base is not None else ""
        return f"sum({array}, {c_text(index, lambda name: known[name])})"
    at = index if bank.base is None else add(var(bank.base), index)
    return f"{array}[{c_text(at, lambda name: known[name])}]"


class _Step:
    """A clause on its way to integers: the places of arrays that it looks at."""

    def __init__(
        self,
        clause: Clause,
        cuts: tuple[Cut, ...],
        index: str,
        named: dict[str, Term],
        tick: Callable[[], None],
    ):
        self._tick = tick
        self._clause = clause
        self._named = named
        self._cuts = cuts
        self._index = index
        self._sources: dict[int, Source] = {}  # by the number of the premise
        for number, premise in enumerate(clause.premises):
            if cuts[premise.cut].cells is not None:
                suffix = f"'{number}" if self._sources else ""
                self._sources[number] = Source(premise, cuts[premise.cut], index, suffix)
        self._held = {leaf: one for one in self._sources.values() for leaf in one.arrays}
        self._banks = {bank.name: bank for bank in clause.banks}
        self._free: dict[tuple[str, str], Known] = {}
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
            if not self._sources:
                inputs.append(Input(self._index))
        looked = target is not None and target.cells is not None
        constraint = conj((constraint, *self._equal(equal, looked)))
        premises: list[Premise] = []
        known: list[Known] = []
        stated: list[Term] = []
        for number, premise in enumerate(clause.premises):
            source = self._sources.get(number)
            instances, cells = source.instances() if source else ([premise], [])
            premises += instances
            known += cells
            stated += source.indexed() if source else ()
        known += self._free.values()
        constraint = conj((constraint, *stated, *agreeing(known, self._tick), *self._within()))
        for item in self._free.values():
            inputs += [Input(name) for name in (item.cell, item.sum) if name is not None]
        return replace(
            clause,
            premises=tuple(premises),
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
        if any(extra.near for extra in target.cells.more):
            self._overwritten(arrays.values())
        state = dict(zip(target.variables, (*args, here), strict=False))
        for extra in target.cells.more:
            index = substitute(extra.index, state)
            take = self._cell if extra.kind == "cell" else self._sum
            found.append(take(arrays[extra.array], index))
        return found

    def _overwritten(self, arrays: Iterable[Term]) -> None:
        """What is stored in is looked at as it was before: its neighbours may be known by it."""
        for node in postorder(*arrays):
            if node.op == "store":
                self._cell(node.args[0], node.args[1])

    def _equal(self, equations: list[Term], looked: bool) -> Iterable[Term]:
        """Arrays that are equal have equal cells in all places that are looked at, or stored in; of
        the target, too, if any are."""
        if not equations:
            return
        sides = [tuple(map(self._flat, part.args)) for part in equations]
        places = {
            text_of(index): index
            for source in self._sources.values()
            for index, _ in source.places.values()
        }
        places |= {text_of(known.index): known.index for known in self._free.values()}
        stores = (node for pair in sides for node in postorder(*pair) if node.op == "store")
        places |= {text_of(node.args[1]): node.args[1] for node in stores}
        if len(self._sources) > 1:  # what premises say of one array may be about these
            places |= self._named
        if looked:
            here = var(self._index)
            places[text_of(here)] = here
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
        key = (id(held), "cell", text_of(index))
        found = self._found.get(key)
        if found is None:
            self._tick()
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
        key = (id(held), "sum", text_of(index))
        found = self._found.get(key)
        if found is None:
            self._tick()
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

    def _known(self, leaf: str, index: Term, *, sums: bool = False) -> Known:
        """The variables for a place of an array that is a premise's, or free."""
        text = text_of(index)
        if leaf in self._banks:
            before = self._free.get((leaf, text))
            name = f"{leaf}[{len(self._free)}]" if before is None else str(before.cell)
            added = sums or (before is not None and before.sum is not None)
            made = Known(leaf, index, name, f"sum {name}" if added else None)
            self._free[leaf, text] = made
            return made
        return self._held[leaf].looked(leaf, index)

    def _within(self) -> Iterable[Term]:
        """The ranges of cells that are free."""
        for item in self._free.values():
            bank, cell = self._banks[item.array], var(item.cell or "")
            if bank.low is not None:
                yield compare("<=", const(bank.low), cell)
            if bank.high is not None:
                yield compare("<=", cell, const(bank.high))
