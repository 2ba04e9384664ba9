"""Truth tables: what every atom of a pool says about every example, one bit each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError
from ...linear import EQ, NE, RELATIONS
from ._bits import Words, num_words, pack

_EQ, _NE = RELATIONS.index(EQ), RELATIONS.index(NE)

# Projections a·x are 64-bit integers; coefficients and values whose products could leave them are
# refused rather than wrapped around.
_SAFE = 2**62
# Truth values made at a time, so that they stay in the processor's caches.
_AT_ONCE = 1 << 18
_MULTIPLIER, _SHIFT = np.uint64(0x9FB21C651E98DF25), np.uint64(29)


class AtomArrays(NamedTuple):
    """A pool of atoms as arrays: atom k says `directions[direction[k]]·x  REL  constant[k]`.

    `relation[k]` is 0 for `<=`, 1 for `==` and 2 for `!=`. Where `modulus[k]` is positive, the left
    side is reduced modulo it first (to 0 … modulus-1). Atoms that share a direction should be
    neighbours: the direction is projected once for each run of atoms.
    """

    directions: NDArray[np.int64]
    direction: NDArray[np.int64]
    relation: NDArray[np.int64]
    constant: NDArray[np.int64]
    modulus: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.constant)

    def take(self, index: NDArray[np.int64]) -> AtomArrays:
        """The atoms at these positions, over the same directions."""
        return AtomArrays(self.directions, *(part[index] for part in self[1:]))


def slots_for(*groups: ArrayLike) -> NDArray[np.int64]:
    """Positions of points for `truth_table`: each group starts at a new word, padded with -1.

    >>> slots_for([0, 1], [2]).reshape(2, 64)[:, :2].tolist()
    [[0, 1], [2, -1]]
    """
    padded = []
    for group in groups:
        index = np.asarray(group, dtype=np.int64)
        words = -(-len(index) // 64)
        padded.append(np.full(64 * words, -1, dtype=np.int64))
        padded[-1][: len(index)] = index
    slots = np.concatenate(padded) if padded else np.empty(0, dtype=np.int64)
    return slots if len(slots) else np.full(64, -1, dtype=np.int64)


def truth_table(
    points: NDArray[np.int64], atoms: AtomArrays, slots: NDArray[np.int64] | None = None
) -> Words:
    """`table[w, k]`, bit b: whether atom k holds at the point in slot 64·w + b.

    `points` has a row for each point. `slots` names the row that each bit position shows (-1: none,
    the bit is 0); by default the rows in order.
    """
    points = np.ascontiguousarray(points, dtype=np.int64)
    if slots is None:
        slots = slots_for(np.arange(len(points)))
    _check_products(points, atoms.directions)
    table = np.zeros((num_words(len(slots)), len(atoms)), dtype=np.uint64)
    if not len(points):  # no slot shows any
        return table
    shown = points[slots].T
    some = max(1, _AT_ONCE // len(slots))
    for first in range(0, len(atoms), some):
        part = slice(first, first + some)
        holds = _holds(shown, atoms.directions, *(each[part] for each in atoms[1:]))
        table[:, part] = pack(holds & (slots >= 0)).T
    return table


def _holds(
    shown: NDArray[np.int64],
    directions: NDArray[np.int64],
    direction: NDArray[np.int64],
    relation: NDArray[np.int64],
    constant: NDArray[np.int64],
    modulus: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """A row for each atom: where it holds among the points, which are the columns of `shown`."""
    used, place = np.unique(direction, return_inverse=True)
    values = (directions[used] @ shown)[place]
    bound = constant[:, None]
    reduced = np.flatnonzero(modulus > 0)
    # `%` rounds towards minus infinity.
    values[reduced] %= modulus[reduced, None]
    holds = values <= bound
    for kind, compared in ((_EQ, np.equal), (_NE, np.not_equal)):
        rows = np.flatnonzero(relation == kind)
        holds[rows] = compared(values[rows], bound[rows])
    return holds


def _check_products(points: NDArray[np.int64], directions: NDArray[np.int64]) -> None:
    if not points.size or not directions.size:
        return
    largest = np.maximum(points.max(axis=0), -points.min(axis=0)).astype(np.float64)
    if float((np.abs(directions).astype(np.float64) @ largest).max()) >= _SAFE:
        raise InputError(
            "coefficients times values leave the 64-bit integers; scale the values or use smaller "
            "coefficients"
        )


def classes(table: Words) -> tuple[NDArray[np.int64], int]:
    """`(class_of, count)`: atoms with equal truth values on all examples share a class number.

    Classes are numbered by their first atom. Equality is checked word by word, not by hash alone.
    """
    hashes = np.zeros(table.shape[1], dtype=np.uint64)
    for word in table:
        hashes = (hashes ^ word) * _MULTIPLIER
        hashes ^= hashes >> _SHIFT
    found = _numbered(hashes)
    if not (table[:, found.first[found.class_of]] == table).all():  # two hashes happened to agree
        found = _numbered(table.T.copy().view([("", np.uint64)] * len(table))[:, 0])
    return found.class_of, len(found.first)


class _Classes(NamedTuple):
    first: NDArray[np.int64]
    class_of: NDArray[np.int64]


def _numbered(values: NDArray[Any]) -> _Classes:
    _, first, class_of = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return _Classes(first[order], rank[class_of])
