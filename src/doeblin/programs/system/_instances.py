"""The premises of a clause with arrays, looked at in one place after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from ._system import Cut, Premise
from .terms import (
    ZERO,
    Term,
    add,
    alike,
    compare,
    conj,
    const,
    implies,
    postorder,
    substitute,
    var,
)

_LARGE = 60  # nodes of a term

_Place = tuple[Term, str]  # an index, and what marks the variables of the instance there


def text_of(index: Term) -> str:
    """The same for equal terms, unless they are large."""
    nodes = sum(1 for _ in islice(postorder(index), _LARGE))
    return repr(index) if nodes < _LARGE else f"{id(index)}"


@dataclass(frozen=True, slots=True)
class Known:
    """A cell of an array, or the sum of those before it, and the variable that has it."""

    array: str
    index: Term
    cell: str | None
    sum: str | None


class Source:
    """A premise with arrays: where it is looked at, and what its variables are called there. Those
    of the first have the cut's own names."""

    def __init__(self, premise: Premise, cut: Cut, index: str, suffix: str):
        assert cut.cells is not None
        self.premise = premise
        self.cells = cut.cells
        self.suffix = suffix
        names = (bank.name for bank in cut.arrays)
        self.arrays = dict(zip(premise.arrays, names, strict=True))  # as the clause calls them
        self.places: dict[str, _Place] = {index: (var(index), suffix)}
        self._state = dict(zip(cut.variables, map(var, premise.names), strict=False))
        self._index = index

    def looked(self, leaf: str, index: Term) -> Known:
        """An array's cell at an index."""
        text = text_of(index)
        if text not in self.places:
            self.places[text] = (index, f"{self.suffix}#{len(self.places)}")
        return self._instance(leaf, *self.places[text])

    def _instance(self, leaf: str, index: Term, mark: str) -> Known:
        """An array at the place of an instance."""
        held = self.arrays[leaf]
        sums = [
            extra.name
            for extra in self.cells.more
            if extra.kind == "sum" and extra.array == held and _names(extra.index, self._index)
        ]
        name = f"{sums[0]}{mark}" if sums else None
        return Known(leaf, index, self.cells.of[held] + mark, name)

    def instances(self) -> tuple[list[Premise], list[Known]]:
        """The premise at each place, and what the places have."""
        cells, premises, known = self.cells, [], []
        called = {held: leaf for leaf, held in self.arrays.items()}
        for _, mark in self.places.values():
            # What does not depend on the place is the same in every instance.
            about = [
                f"{name}{mark if name in cells.local else self.suffix}" for name in cells.names
            ]
            names = (*self.premise.names, *about)
            premises.append(Premise(self.premise.cut, names))
            here = var(self._index + mark)
            known += [self._instance(leaf, here, mark) for leaf in self.arrays]
            for extra in cells.more:
                local = extra.name in cells.local
                if not _names(extra.index, self._index) and (local or mark == self.suffix):
                    index = substitute(extra.index, {**self._state, self._index: here})
                    name = extra.name + (mark if local else self.suffix)
                    one = (name, None) if extra.kind == "cell" else (None, name)
                    known.append(Known(called[extra.array], index, *one))
        return premises, known

    def indexed(self) -> Iterable[Term]:
        """Where the instances are."""
        for index, mark in self.places.values():
            if mark:
                yield compare("=", var(self._index + mark), index)


def _names(index: Term, name: str) -> bool:
    return index.op == "var" and index.leaf == name


def agreeing(known: list[Known], tick: Callable[[], None]) -> Iterable[Term]:
    """Of one array, equal places have equal cells and sums; a sum goes on by the cell at its end,
    and is zero up to place zero."""
    for number, one in enumerate(known):
        tick()
        if one.sum is not None:
            below = compare("<=", one.index, ZERO)
            yield implies(below, compare("=", var(one.sum), ZERO))
        for other in known[:number]:
            if other.array == one.array:
                yield from _two(one, other)


def _two(one: Known, other: Known) -> Iterable[Term]:
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
