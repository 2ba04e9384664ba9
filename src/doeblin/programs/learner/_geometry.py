"""What a cloud of examples suggests: facets of its convex hull, and congruences.

A bound on a linear form says something new about its variables only if the examples that attain it
span a face of the highest dimension in their projection; otherwise it follows from bounds on
fewer variables, or is an accident of a single example. So forms of up to five variables can be
looked at by the ten thousand, and only a few of them are worth asking the solver about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Facet = tuple[tuple[int, ...], int]  # a linear form over all variables, and its highest value

_MOST_COLUMNS = 8
_MOST_POINTS = 1000
_SHOWN = 24  # examples that attain a bound, as far as their rank is looked at
_LARGEST = 1 << 40
_PRIME = (1 << 31) - 1  # so large that residues of small rationals are told apart
_FEW_DENOMINATORS, _MOST_DENOMINATOR, _MOST_COEFFICIENT = 7, 200, 2000


def distinct(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows in order, each once: as `np.unique` has them, which imports numpy's masked arrays.

    >>> distinct(np.array([[2, 1], [1, 3], [2, 1], [1, 2]])).tolist()
    [[1, 2], [1, 3], [2, 1]]
    """
    if rows.shape[1]:
        rows = rows[np.lexsort(rows.T[::-1])]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[first]


def facets(
    points: NDArray[np.int64],
    columns: Sequence[int],
    scales: Sequence[int],
    widest: int = 5,
    *,
    large: Sequence[int] = (),
    most: int,
    tick: Callable[[], None] = lambda: None,
) -> list[Facet]:
    """Facets over two to `widest` of the columns, with coefficients 1 and `scales`, simplest
    first. Over two columns also `large` coefficients are tried. `tick` is called often and may
    raise to stop the work."""
    points = distinct(points)
    points = points[np.abs(points).max(axis=1, initial=0) < _LARGEST]
    if len(points) >= _MOST_POINTS:
        points = points[_scattered(len(points))[:_MOST_POINTS]]
    if len(points) < 3:
        return []
    chosen = _independent(points, columns)
    found: list[tuple[float, Facet]] = []
    size = points.shape[1]
    # Where there are many columns, there is time for few coefficients only.
    few = scales if len(chosen) <= 6 else scales[:3]
    for count in range(2, min(widest, len(chosen)) + 1):
        if count == 2:
            forms = _forms(count, (*few, *large))
        else:
            forms = _forms(count, tuple(few if count < 4 or len(chosen) <= 6 else ()))
        for support in combinations(chosen, count):
            tick()
            for row, bound in _attained(points[:, support].astype(np.float64), forms):
                vector = [0] * size
                for i, c in zip(support, forms[row].tolist(), strict=True):
                    vector[i] = int(c)
                cost = sum(1 + math.log2(abs(c)) for c in vector if c)
                found.append((cost, (tuple(vector), bound)))
    found.sort(key=lambda item: item[0])
    return [facet for _, facet in found[:most]]


def two_valued(
    points: NDArray[np.int64], columns: Sequence[int]
) -> list[tuple[tuple[int, ...], tuple[int, int]]]:
    """Sums and differences of two or three columns that have two values only, with a gap between
    them, as where a ring wraps around."""
    chosen = _independent(points, columns) if len(points) >= 4 else []
    found = []
    for count in (2, 3):
        forms = _forms(count, ()).astype(np.int64)
        forms = forms[forms[:, 0] > 0]  # the others are their negatives
        for support in combinations(chosen, count):
            values = forms @ points[:, support].T
            lowest, highest = values.min(axis=1), values.max(axis=1)
            ends = (values == lowest[:, None]) | (values == highest[:, None])
            for row in np.nonzero(ends.all(axis=1) & (highest - lowest > 1))[0]:
                vector = np.zeros(points.shape[1], dtype=np.int64)
                vector[list(support)] = forms[row]
                found.append((tuple(vector.tolist()), (int(lowest[row]), int(highest[row]))))
    return found


def _independent(points: NDArray[np.int64], columns: Sequence[int]) -> list[int]:
    """Columns that vary and do not just repeat an earlier one, those with most values first."""
    kept: list[int] = []
    by_values = sorted(columns, key=lambda i: (-len(distinct(points[:, [i]])), i))
    for i in by_values:
        column = points[:, i]
        same = (column - sign * points[:, j] for j in kept for sign in (1, -1))
        if (column != column[0]).any() and not any((d == d[0]).all() for d in same):
            kept.append(i)
            if len(kept) == _MOST_COLUMNS:
                break
    return sorted(kept)


@cache
def _forms(count: int, scales: tuple[int, ...]) -> NDArray[np.float64]:
    """Primitive integer vectors without a zero: all for two or three variables, for four those
    where at most two, alike, are beyond 1, and for five those of ones."""
    positive = sorted({1, *scales}) if count <= 3 else [1]
    found = set(product([c for p in positive for c in (p, -p)], repeat=count))
    for signs in product((1, -1), repeat=count) if count == 4 else ():
        for i, j, scale in product(range(count), range(count), scales):
            found.add(tuple(c * scale if k in (i, j) else c for k, c in enumerate(signs)))
    primitive = sorted(v for v in found if math.gcd(*v) == 1)
    return np.array(primitive, dtype=np.float64).reshape(len(primitive), count)


def _attained(points: NDArray[np.float64], forms: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The forms whose highest value is attained on a face of full dimension, and that value."""
    count = points.shape[1]
    if np.linalg.matrix_rank(points - points[0]) < count:
        return []  # the columns satisfy an equation: fewer of them say the same
    values = forms @ points.T
    highest = values.max(axis=1)
    attained = values == highest[:, None]
    rows = np.nonzero(attained.sum(axis=1) >= count)[0]
    if not len(rows):
        return []
    if len(points) < _MOST_POINTS and attained[rows].sum(axis=1).max() > _SHOWN:
        somehow = _scattered(len(points))
        points, attained = points[somehow], attained[:, somehow]
    # As many examples of each as are looked at; where there are fewer, the first again.
    order = np.argsort(~attained[rows], axis=1, kind="stable")[:, :_SHOWN]
    real = np.take_along_axis(attained[rows], order, axis=1)
    order = np.where(real, order, order[:, :1])
    faces = points[order]
    rank = np.linalg.matrix_rank(faces - faces[:, :1])
    return [(int(row), int(highest[row])) for row in rows[rank == count - 1]]


def _scattered(count: int) -> NDArray[np.int64]:
    """An order that is not the sorted one: the first few of a face are then all over it. It is
    asked for only where it matters, since numpy's random numbers take long to import."""
    return np.random.default_rng(0).permutation(count)


def congruences(
    points: NDArray[np.int64], columns: Sequence[int], prime: int
) -> list[tuple[tuple[int, ...], int]]:
    """Forms that are the same at every point modulo a prime, and what they are."""
    found = []
    for form in _null_space(points[:, columns], prime).tolist():
        vector = [0] * points.shape[1]
        for i, c in zip(columns, form[1:], strict=True):
            vector[i] = c
        found.append((tuple(vector), -form[0] % prime))
    return found


def equations(
    points: NDArray[np.int64], columns: Sequence[int]
) -> list[tuple[tuple[int, ...], int]]:
    """Forms with small coefficients that are the same at every point, and what they are.

    Where one of them holds by accident, a basis may have it in all others, too; the basis that
    solves for other variables then has not. So there are two, from either end.
    """
    points = points[np.abs(points).max(axis=1, initial=0) < _LARGEST]
    if not len(points):
        return []
    found: dict[tuple[int, ...], int] = {}
    for order in (list(columns), list(columns)[::-1]):
        for form in _null_space(points[:, order], _PRIME):
            # The rationals that these residues stand for, with their denominators cleared.
            cleared = _rational(form[1:])
            if cleared is None:
                continue
            vector = np.zeros(points.shape[1], dtype=np.int64)
            vector[order] = cleared
            first = vector[np.nonzero(vector)[0][0]]
            vector = vector if first > 0 else -vector
            values = points @ vector
            if (values == values[0]).all():
                found[tuple(vector.tolist())] = int(values[0])
    return list(found.items())


def _rational(form: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The smallest multiple of residues that are small integers."""
    for least, most in ((1, _FEW_DENOMINATORS), (_FEW_DENOMINATORS, _MOST_DENOMINATOR)):
        multiples = np.arange(least, most)[:, None] * form[None, :]
        centred = (multiples + _PRIME // 2) % _PRIME - _PRIME // 2
        small = np.nonzero(np.abs(centred).max(axis=1) <= _MOST_COEFFICIENT)[0]
        if len(small):
            return centred[small[0]]
    return None


def _null_space(points: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
    """A basis of the forms `c + v·x` that are zero at every point, over the field with so many
    elements; each has a coordinate of its own, where it is 1."""
    # The column of ones comes first: it is a pivot, so no form is a mere constant.
    ones = np.ones((len(points), 1), dtype=np.int64)
    matrix = np.hstack([ones, points % prime])
    size = matrix.shape[1]
    # A few points span what all do, or nearly: the others are only looked at for what is missing.
    few = 2 * size
    chosen = matrix[:: max(1, len(matrix) // few)][:few]
    while True:
        found, spanning = _kernel(chosen, prime)
        missed = np.nonzero(_values(matrix, found, prime).any(axis=1))[0]
        if not len(missed):
            return found
        chosen = np.vstack([spanning, matrix[missed[:size]]])


def _values(matrix: NDArray[np.int64], forms: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
    """What each form is at each point. Products of two residues fit, sums of them do not."""
    found = np.zeros((len(matrix), len(forms)), dtype=np.int64)
    for column in range(matrix.shape[1]):
        found = (found + np.outer(matrix[:, column], forms[:, column]) % prime) % prime
    return found


def _kernel(matrix: NDArray[np.int64], prime: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The null space of a matrix, and as many rows as it takes to have that null space."""
    size = matrix.shape[1]
    pivots: list[int] = []
    for column in range(size):
        row = len(pivots)
        here = np.nonzero(matrix[row:, column])[0]
        if not len(here):
            continue
        matrix[[row, row + here[0]]] = matrix[[row + here[0], row]]
        matrix[row] = matrix[row] * pow(int(matrix[row, column]), -1, prime) % prime
        others = matrix[:, column].copy()
        others[row] = 0
        matrix = (matrix - np.outer(others, matrix[row]) % prime) % prime
        pivots.append(column)
    free = [column for column in range(size) if column not in pivots]
    found = np.zeros((len(free), size), dtype=np.int64)
    for form, column in zip(found, free, strict=True):
        form[column] = 1
        form[pivots] = -matrix[: len(pivots), column] % prime
    return found, matrix[: len(pivots)]
