"""Spaces of polynomials that vanish: at all points that were seen, and on all runs.

Of all polynomials up to some degree that are zero at the states seen, those remain that every step
takes to polynomials which the remaining ones make zero. Combinations are looked at, not just
members of a basis, so one equation that holds by accident does not spoil the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from ..system import System
from ._branches import Branch
from ._ring import (
    ONE,
    PRIME,
    Images,
    Monomial,
    Polynomial,
    TooManyTerms,
    add_to,
    lead,
    order,
    times,
)

_SURE = 1.25  # points for each dimension that they span, for equations not to be accidents


def monomials(names: Sequence[str], degree: int) -> list[Monomial]:
    """All up to a degree, lowest first."""
    return [
        tuple(sorted(product))
        for d in range(degree + 1)
        for product in combinations_with_replacement(sorted(names), d)
    ]


def vanishing(
    points: Sequence[Sequence[int]], names: Sequence[str], columns: Sequence[Monomial]
) -> list[Polynomial] | None:
    """A basis of the polynomials over these monomials that are zero at all points; None where the
    points are too few to tell."""
    columns = sorted(columns, key=order)
    values = {n: _residues([p[i] for p in points]) for i, n in enumerate(names)}
    found: dict[Monomial, NDArray[np.int64]] = {ONE: np.ones(len(points), dtype=np.int64)}
    for monomial in columns:
        if monomial not in found:
            rest = found.get(monomial[:-1])
            if rest is None:
                rest = found[monomial[:-1]] = _product(values, monomial[:-1], len(points))
            found[monomial] = rest * values[monomial[-1]] % PRIME
    matrix = np.stack([found[m] for m in columns], axis=1)
    pivots, reduced = _echelon(matrix)
    if len(points) < _SURE * len(pivots) + 3:
        return None
    basis = []
    for column in range(len(columns)):
        if column not in pivots:
            form: Polynomial = {columns[column]: 1}
            for row, pivot in enumerate(pivots):
                if reduced[row, column]:
                    form[columns[pivot]] = int(-reduced[row, column] % PRIME)
            basis.append(form)
    return basis


def _residues(numbers: list[int]) -> NDArray[np.int64]:
    return np.array([n % PRIME for n in numbers], dtype=np.int64)


def _product(values: dict[str, NDArray[np.int64]], monomial: Monomial, size: int):
    total = np.ones(size, dtype=np.int64)
    for name in monomial:
        total = total * values[name] % PRIME
    return total


def _echelon(matrix: NDArray[np.int64]) -> tuple[list[int], NDArray[np.int64]]:
    """The reduced row echelon form, pivots as far to the left as can be."""
    matrix = np.unique(matrix, axis=0)
    pivots: list[int] = []
    for column in range(matrix.shape[1]):
        row = len(pivots)
        here = np.nonzero(matrix[row:, column])[0]
        if not len(here):
            continue
        matrix[[row, row + here[0]]] = matrix[[row + here[0], row]]
        matrix[row] = matrix[row] * pow(int(matrix[row, column]), -1, PRIME) % PRIME
        others = matrix[:, column].copy()
        others[row] = 0
        used = np.nonzero(others)[0]
        matrix[used] = (matrix[used] - np.outer(others[used], matrix[row]) % PRIME) % PRIME
        pivots.append(column)
    return pivots, matrix


class Ideal:
    """Polynomials that are zero, and what remains of others beside them."""

    def __init__(self, members: Iterable[Polynomial] = ()):
        self._rows: dict[Monomial, Polynomial] = {}
        self._known: dict[Monomial, Polynomial] = {}
        for member in sorted(members, key=lambda p: order(lead(p)) if p else (0, ())):
            self.add(member)

    def add(self, member: Polynomial) -> bool:
        """Is it new?"""
        rest = self.rest(member)
        if not rest:
            return False
        top = lead(rest)
        scale = pow(rest[top], -1, PRIME)
        self._rows[top] = {m: c * scale % PRIME for m, c in rest.items()}
        self._known.clear()
        return True

    def rest(self, polynomial: Polynomial) -> Polynomial:
        found: Polynomial = {}
        for monomial, c in polynomial.items():
            add_to(found, self._monomial(monomial), c)
        return found

    def _monomial(self, monomial: Monomial) -> Polynomial:
        found = self._known.get(monomial)
        if found is None:
            found = self._known[monomial] = self._reduced(monomial)
        return found

    def _reduced(self, monomial: Monomial) -> Polynomial:
        for size in range(len(monomial), -1, -1):
            for chosen in combinations(range(len(monomial)), size):
                row = self._rows.get(tuple(monomial[i] for i in chosen))
                if row is None:
                    continue
                factor = tuple(monomial[i] for i in range(len(monomial)) if i not in chosen)
                top = tuple(monomial[i] for i in chosen)
                tail = {m: -c % PRIME for m, c in row.items() if m != top}
                return self.rest(times(tail, {factor: 1})) if tail else {}
        return {monomial: 1}


def inductive(
    system: System,
    branches: Sequence[Sequence[Branch] | None],
    spaces: list[list[Polynomial]],
    tick: Callable[[], None],
) -> list[list[Polynomial]]:
    """The largest parts of these spaces that all branches of all clauses preserve, as far as
    division by their members shows; `None` stands for branches that are not known."""
    spaces = list(spaces)
    todo = [i for i, clause in enumerate(system.clauses) if clause.target is not None]
    while todo:
        index = todo.pop(0)
        clause, ways = system.clauses[index], branches[index]
        target = clause.target
        assert target is not None
        before = len(spaces[target])
        if ways is None:
            spaces[target] = []
        for branch in ways or ():
            tick()
            known = [branch.given(p, spaces[p.cut], system) for p in clause.premises]
            try:
                members = [branch.seen(p) for part in known for p in part]
                ideal = Ideal([*branch.equations, *filter(None, members)])
                names = system.cuts[target].variables
                images = Images(dict(zip(names, branch.args, strict=True)))
                rests = [ideal.rest(branch.seen(images.of(p))) for p in spaces[target]]
            except (TooManyTerms, RecursionError):
                spaces[target] = []
                break
            spaces[target] = _kernel(spaces[target], rests)
        if len(spaces[target]) < before:
            for i, other in enumerate(system.clauses):
                touched = any(premise.cut == target for premise in other.premises)
                if other.target is not None and touched and i not in todo:
                    todo.append(i)
    return spaces


def _kernel(space: Sequence[Polynomial], rests: Sequence[Polynomial]) -> list[Polynomial]:
    """The combinations of a space's members whose rests cancel."""
    pivots: dict[Monomial, tuple[Polynomial, Polynomial]] = {}
    found = []
    for member, rest in zip(space, rests, strict=True):
        member, rest = dict(member), dict(rest)
        while rest:
            top = lead(rest)
            if top not in pivots:
                pivots[top] = (rest, member)
                break
            known, its = pivots[top]
            factor = -rest[top] * pow(known[top], -1, PRIME) % PRIME
            add_to(rest, known, factor)
            add_to(member, its, factor)
        else:
            if member:
                found.append(member)
    return reduced(found)


def reduced(space: Sequence[Polynomial]) -> list[Polynomial]:
    """A basis in which no member has the highest monomial of another, lowest first."""
    rows: dict[Monomial, Polynomial] = {}
    for member in space:
        rest = dict(member)
        for top in sorted(rows, key=order, reverse=True):
            if top in rest:
                add_to(rest, rows[top], -rest[top])
        if not rest:
            continue
        new = lead(rest)
        scale = pow(rest[new], -1, PRIME)
        rest = {m: c * scale % PRIME for m, c in rest.items()}
        for top, row in rows.items():
            if new in row:
                rows[top] = dict(row)
                add_to(rows[top], rest, -row[new])
        rows[new] = rest
    return [rows[top] for top in sorted(rows, key=order)]


def generators(space: Sequence[Polynomial]) -> list[Polynomial]:
    """Members that make all others zero, lowest first."""
    ideal, found = Ideal(), []
    for member in reduced(space):
        if ideal.add(member):
            found.append(member)
    return found
