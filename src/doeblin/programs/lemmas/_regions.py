"""Lemmas about any one cell: what holds of it where its index is in some region.

Regions are between zero and variables that indices are made of or held against, also modulo small
numbers; `wide` ones also end where indices are that are no variables, as `2*i`, or depend on a
scalar, and few examples are enough for them. In each, equations are the null space of the examples
there; bounds and the program's own comparisons are held against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray

from ...linear import EQ, LE, NE, Atom, Cube, Dnf
from ..learner import fits, geometry, linear, vector_of
from ..system import Cut
from ..system.terms import Term
from ._context import truth
from ._guide import Guide

Vector = tuple[int, ...]
_ENDS = 4  # variables that a region may end at
_FEW = 4  # examples that show nothing
_FEWEST = 2
_TERMS = 7  # of an equation, at most
_MODULI = 5
_FLAGS = 2
_EITHER = 16  # comparisons of which two are put together
_FORMS = 4  # that indices have, and a region may end at
_GUARDS = 4


def products_of(
    cut: Cut, indices: frozenset[str], degree: int, mixed: bool
) -> list[tuple[str, ...]]:
    """Products of indices and, if `mixed`, of other variables with one index."""
    if cut.cells is None:
        own, cells = [n for n in cut.variables if n in indices][:_ENDS], []
    else:
        own = [*(n for n in cut.variables if n in indices), cut.cells.at][-_ENDS - 1 :]
        cells = list(cut.cells.of.values())
    about = cut.cells.names if cut.cells is not None else ()
    scalars = [n for n in cut.variables if n not in (*own, *about)]
    found: list[tuple[str, ...]] = []
    for size in range(2, degree + 1):
        found += combinations_with_replacement(own, size)
    if mixed and len(scalars) + len(cells) <= 6:
        found += [(name, index) for name in (*scalars, *cells) for index in own]
    return found


class Regions:
    """Candidates at one cut point."""

    def __init__(self, cut: Cut, points: NDArray[np.int64], guide: Guide, *, wide: bool = False):
        assert cut.cells is not None
        self._wide = wide
        self._cut = cut
        self._guide = guide
        self._size = len(cut.variables)
        self._place = {name: i for i, name in enumerate(cut.variables)}
        self._points = points
        self._index = self._place[cut.cells.at]
        local = cut.cells.local - {cut.cells.at}
        self._cells = [self._place[name] for name in cut.cells.names if name in local]
        apart = {self._index, *self._cells}
        last = len(cut.plain)
        self._scalars = [i for i in range(last) if i not in apart]
        self._ends = self._apart(i for i in self._scalars if cut.variables[i] in guide.indices)
        moduli = {m for m in guide.found.moduli if m <= _MODULI}
        moduli |= guide.steps
        if wide:
            moduli |= {abs(factor) for form, _ in guide.forms for _, factor in form}
        self._moduli = sorted(m for m in moduli if 2 <= m <= _MODULI)

    def _apart(self, ends: Iterable[int]) -> list[int]:
        """A few of these; of two that are as far from each other in every state, the first."""
        found: list[int] = []
        for end in ends:
            gaps = (self._points[:, end] - self._points[:, other] for other in found)
            if len(found) < _ENDS and not any((gap == gap[:1]).all() for gap in gaps):
                found.append(end)
        return found

    def candidates(self, *, either: bool = False, claims: Sequence[Dnf] = ()) -> list[Dnf]:
        """What holds in each region; if wanted, also that one of two comparisons does, or what is
        claimed of some cell."""
        found: dict[Dnf, None] = {}
        seen: set[bytes] = set()
        if not len(self._points):
            return []
        for region in (*self._regions(), *(self._wider() if self._wide else ())):
            inside = np.logical_and.reduce([truth(atom, self._points) for atom in region])
            if inside.sum() < (_FEWEST if self._wide else _FEW) or inside.tobytes() in seen:
                continue
            seen.add(inside.tobytes())
            negation = tuple((part,) for atom in region for part in atom.negated())
            for atom in self._atoms(self._points[inside]):
                found[(*negation, (atom,))] = None
            for one, other in self._either(self._points[inside]) if either else ():
                found[(*negation, (one,), (other,))] = None
            for claim in claims:
                if _true(claim, self._points[inside]):
                    found[(*negation, *claim)] = None
        return list(found)

    # ---- regions

    def _unit(self, *parts: tuple[int, int]) -> Vector:
        vector = [0] * self._size
        for place, factor in parts:
            vector[place] += factor
        return tuple(vector)

    def _above(self, end: int | None, strict: bool = False) -> Atom:
        """The index is at least zero, or a variable."""
        parts = [(self._index, -1)] + ([(end, 1)] if end is not None else [])
        return Atom(self._unit(*parts), LE, -int(strict))

    def _below(self, end: int, strict: bool = True) -> Atom:
        return Atom(self._unit((self._index, 1), (end, -1)), LE, -int(strict))

    def _regions(self) -> Iterable[Cube]:
        ends: list[int | None] = [None, *self._ends]
        between = [
            (self._above(low), self._below(high))
            for low in ends
            for high in self._ends
            if low != high
        ]
        yield from between
        for high in self._ends:
            yield (self._above(None), self._below(high, strict=False))
        for limit in self._guide.limits:
            cap = Atom(self._unit((self._index, 1)), LE, limit - 1)
            yield from ((self._above(low), cap) for low in ends)
            yield from ((self._above(low, strict=True), cap) for low in self._ends)
        for low, high in permutations(self._ends, 2):
            yield (self._above(low, strict=True), self._below(high))
            yield (self._above(low), self._below(high, strict=False))
        for end in self._ends:
            yield (Atom(self._unit((self._index, 1), (end, -1)), EQ, 0),)
        for end, high in permutations(self._ends, 2):
            yield (Atom(self._unit((self._index, 1), (end, -1)), EQ, 0), self._below(high))
        for place in sorted({0, *self._guide.places}, key=abs)[:_ENDS]:
            yield (Atom(self._unit((self._index, 1)), EQ, place),)
        if any(extra.near for extra in self._cut.cells.more) if self._cut.cells else False:
            for high in self._ends:
                for strict in (True, False):
                    yield (self._above(None, strict=True), self._below(high, strict=strict))
            for low, high in permutations(self._ends, 2):
                yield (self._above(low, strict=True), self._below(high, strict=False))
        for end in ends:
            yield (self._above(end),)
        cells = self._cut.cells
        local = cells.local if cells else set()
        for extra in cells.more if cells else ():
            if extra.kind != "cell" or extra.name not in local:
                continue
            for end in self._ends:
                if (mapped := self._mapped(extra.index, end)) is not None:
                    yield from (
                        (self._above(low), mapped) for low in (ends if extra.near else [None])
                    )
        for low, high in between:
            yield (Atom(tuple(-c for c in low.coefficients), LE, -low.constant - 1), high)
        for flag in self._flags():
            for value in (0, 1):
                for pair in between[: 2 * _ENDS]:
                    yield (*pair, Atom(self._unit((flag, 1)), EQ, value))
        for one, other in combinations(self._ends, 2):
            for end in self._ends:
                if end not in (one, other):
                    yield (self._above(one), self._above(other), self._below(end))
                    yield (self._above(end), self._below(one), self._below(other))
        for modulus in self._moduli:
            for pair in between[: 2 * _ENDS]:
                for rest in range(modulus):
                    yield (*pair, Atom(self._unit((self._index, 1)), EQ, rest, modulus))

    def _wider(self) -> Iterable[Cube]:
        """Up to what indices are, as `2*i` and `n - 1`; and where some scalar is as the program
        asks."""
        start, here = self._above(None), self._unit((self._index, 1))
        caps = [Atom(here, LE, limit - 1) for limit in self._guide.limits]
        forms = [(self._unit((end, 1)), 0) for end in self._ends]
        plain = len(forms)
        for form, added in self._guide.forms:
            vector = vector_of(form, self._cut.variables)
            if vector is not None and not any(vector[i] for i in (self._index, *self._cells)):
                forms.append((vector, added))
        forms = forms[: plain + _FORMS]
        highs = []
        for number, (vector, added) in enumerate(forms):
            gap = tuple(i - v for i, v in zip(here, vector, strict=True))
            high, equal = Atom(gap, LE, added - 1), Atom(gap, EQ, added)
            highs.append(high)
            yield (start, equal)
            yield from ((start, equal, cap) for cap in caps)
            if number >= plain:
                yield (start, high)
                yield (equal,)
                low = Atom(tuple(-c for c in gap), LE, -added)
                yield from ((low, self._below(end)) for end in self._ends)
                for modulus in self._moduli:
                    for rest in range(modulus):
                        yield (start, high, Atom(here, EQ, rest, modulus))
        starts = [start]
        if self._cut.cells is not None and any(extra.near for extra in self._cut.cells.more):
            starts.append(self._above(None, strict=True))
        for guard in self._guards():
            yield from ((low, high, guard) for low in starts for high in highs)

    def _guards(self) -> list[Atom]:
        """The program's comparisons of a scalar with a constant that do not always hold."""
        found: dict[bytes, Atom] = {}
        for form, _, bound in self._guide.found.forms:
            vector = vector_of(form, self._cut.variables) if len(form) == 1 else None
            if vector is None or not any(vector[i] for i in self._scalars) or abs(bound) > 1 << 40:
                continue
            back = tuple(-c for c in vector)
            for atom in (
                Atom(vector, LE, bound),
                Atom(back, LE, -bound - 1),
                Atom(back, LE, -bound),
            ):
                true = truth(atom, self._points)
                if true.any() and not true.all():
                    found.setdefault(true.tobytes(), atom)
        return list(found.values())[:_GUARDS]

    def _flags(self) -> list[int]:
        """Variables that are zero or one."""
        ends = {*self._ends}
        chosen = (i for i in self._scalars if i not in ends)
        return [i for i in chosen if set(self._points[:, i].tolist()) == {0, 1}][:_FLAGS]

    def _mapped(self, index: Term, end: int) -> Atom | None:
        """An index that the index maps to is below a variable."""
        forms = linear(index, str)
        if len(forms) != 1:
            return None
        form, constant = forms[0]
        vector = vector_of(form.items(), self._cut.variables)
        if vector is None:
            return None
        gap = tuple(c - int(i == end) for i, c in enumerate(vector))
        return Atom(gap, LE, -constant - 1)

    # ---- what holds there

    def _atoms(self, points: NDArray[np.int64]) -> Iterable[Atom]:
        about = {*self._cells, *self._products_of_cells()}
        order = [*self._ends, self._index]
        order += [i for i in self._scalars if i not in order]
        rest = [i for i in range(self._size) if i not in (*order, *self._cells)]
        order = [*order, *rest, *self._cells]
        equal: set[Vector] = set()
        for vector, value in geometry.equations(points, order):
            used = [i for i, c in enumerate(vector) if c]
            if about & set(used) and len(used) <= _TERMS and fits(Atom(vector, EQ, value)):
                equal |= {vector, tuple(-c for c in vector)}
                yield Atom(vector, EQ, value)
        yield from self._bounds(points)
        for atom in self._forms():
            if atom.coefficients not in equal and truth(atom, points).all():
                yield atom

    def _either(self, points: NDArray[np.int64]) -> Iterable[tuple[Atom, Atom]]:
        """Two of the program's equations, or their negations, of which one always holds."""
        atoms = [atom for atom in self._forms() if atom.relation in (EQ, NE)]
        known = [(atom, truth(atom, points)) for atom in atoms]
        some = [(atom, true) for atom, true in known if true.any() and not true.all()]
        for (one, first), (other, second) in combinations(some[:_EITHER], 2):
            if one.coefficients != other.coefficients and (first | second).all():
                yield one, other

    def _products_of_cells(self) -> set[int]:
        names = {self._cut.variables[i] for i in self._cells}
        first = len(self._cut.plain)
        return {first + n for n, parts in enumerate(self._cut.products) if names & {*parts}}

    def _bounds(self, points: NDArray[np.int64]) -> Iterable[Atom]:
        constants = self._guide.constants
        if self._wide:
            constants |= {c + i for c in self._guide.found.constants for i in (-1, 0, 1)}
        for cell in self._cells:
            column = points[:, cell]
            low, high = int(column.min()), int(column.max())
            if low == high:
                continue  # an equation says so
            if high in constants:
                yield Atom(self._unit((cell, 1)), LE, high)
            if low in constants:
                yield Atom(self._unit((cell, -1)), LE, -low)
            others = [*self._scalars, self._index, *(c for c in self._cells if c < cell)]
            for other in others:
                gap = column - points[:, other]
                low, high = int(gap.min()), int(gap.max())
                if low == high and not self._wide:
                    continue
                for sign, most in ((1, high), (-1, -low)):
                    if abs(most) <= 1:
                        yield Atom(self._unit((cell, sign), (other, -sign)), LE, most)
                    elif self._wide and most < 0:  # by chance, where examples are few
                        yield Atom(self._unit((cell, sign), (other, -sign)), LE, 0)
            for modulus in self._moduli or [2]:
                for vector in (
                    self._unit((cell, 1)),
                    *(self._unit((cell, 1), (i, -1)) for i in others),
                ):
                    values = points @ np.array(vector, dtype=np.int64)
                    rest = values % modulus
                    if (rest == rest[0]).all() and (values != values[0]).any():
                        yield Atom(vector, EQ, int(rest[0]), modulus)

    def _forms(self) -> list[Atom]:
        """The program's own comparisons of cells; also with the index in place of one."""
        found: dict[Atom, None] = {}
        names = self._cut.variables
        cells = {names[i] for i in self._cells}
        at = names[self._index]
        for form, op, bound in self._guide.found.forms:
            if not cells & {name for name, _ in form} or abs(bound) > 1 << 40:
                continue
            moved = [form]
            for name, _ in form:
                if name in self._guide.indices:
                    moved.append(tuple((at if n == name else n, c) for n, c in form))
            for each in moved:
                vector = vector_of(each, names)
                if vector is None or len(dict(each)) < len(each):
                    continue
                back = tuple(-c for c in vector)
                found[Atom(vector, LE, bound)] = None
                found[Atom(back, LE, -bound - 1)] = None
                found[Atom(back, LE, -bound)] = None
                if op == "=":
                    found[Atom(vector, EQ, bound)] = None
                    found[Atom(vector, NE, bound)] = None
        return [atom for atom in found if fits(atom)]


def _true(dnf: Dnf, points: NDArray[np.int64]) -> bool:
    """Does a formula hold at all points?"""
    cubes = (np.logical_and.reduce([truth(atom, points) for atom in cube]) for cube in dnf if cube)
    return () in dnf or bool(np.logical_or.reduce([*cubes]).all())
