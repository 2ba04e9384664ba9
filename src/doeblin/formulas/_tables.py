"""Truth tables: what every atom of a pool says about every example, one bit each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._numba import kept
from ._bits import Words, num_words

LE, EQ, NE = 0, 1, 2

# Projections a·x are 64-bit integers; coefficients and values whose products could leave them are
# refused rather than wrapped around.
_SAFE = 2**62


class AtomArrays(NamedTuple):
    """A pool of atoms as arrays: atom k says `directions[direction[k]]·x  REL  constant[k]`.

    `relation[k]` is `LE`, `EQ` or `NE`. Where `modulus[k]` is positive, the left side is reduced
    modulo it first (to 0 … modulus-1). Atoms that share a direction should be neighbours: the
    direction is projected once for each run of atoms.
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
    table = np.empty((num_words(len(slots)), len(atoms)), dtype=np.uint64)
    _fill(table, points, slots, *(np.ascontiguousarray(part) for part in atoms))
    return table


def _check_products(points: NDArray[np.int64], directions: NDArray[np.int64]) -> None:
    if not points.size or not directions.size:
        return
    largest = np.maximum(points.max(axis=0), -points.min(axis=0)).astype(np.float64)
    if float((np.abs(directions).astype(np.float64) @ largest).max()) >= _SAFE:
        raise InputError(
            "coefficients times values leave the 64-bit integers; scale the values or use smaller "
            "coefficients"
        )


@kept(error_model="numpy")
def _fill(table, points, slots, directions, direction, relation, constant, modulus):
    d = points.shape[1]
    shown = np.zeros(len(slots), np.int64)
    reduced = np.zeros(len(slots), np.int64)
    last = -1
    for k in range(len(constant)):
        if direction[k] != last:
            last = direction[k]
            for b in range(len(slots)):
                value = 0
                if slots[b] >= 0:
                    for j in range(d):
                        value += directions[last, j] * points[slots[b], j]
                shown[b] = value
        values = shown
        if modulus[k] > 0:
            for b in range(len(slots)):
                # `%` rounds towards minus infinity here, as in Python.
                reduced[b] = shown[b] % modulus[k]
            values = reduced
        bound = constant[k]
        for w in range(table.shape[0]):
            word = np.uint64(0)
            for b in range(64):
                value = values[64 * w + b]
                if relation[k] == LE:
                    holds = value <= bound
                elif relation[k] == EQ:
                    holds = value == bound
                else:
                    holds = value != bound
                word |= np.uint64(holds and slots[64 * w + b] >= 0) << np.uint64(b)
            table[w, k] = word


def classes(table: Words) -> tuple[NDArray[np.int64], int]:
    """`(class_of, count)`: atoms with equal truth values on all examples share a class number.

    Classes are numbered by their first atom. Equality is checked word by word, not by hash alone.
    """
    class_of = np.empty(table.shape[1], dtype=np.int64)
    return class_of, int(_classes(np.ascontiguousarray(table), class_of))


@kept(error_model="numpy")
def _classes(table, class_of):
    num_words_, num_atoms = table.shape
    size = 16
    while size < 2 * num_atoms:
        size *= 2
    hashes = np.zeros(num_atoms, np.uint64)
    for w in range(num_words_):
        for k in range(num_atoms):
            h = (hashes[k] ^ table[w, k]) * np.uint64(0x9FB21C651E98DF25)
            hashes[k] = h ^ (h >> np.uint64(29))
    occupant = np.full(size, -1, np.int64)
    count = 0
    for k in range(num_atoms):
        place = np.int64(hashes[k] & np.uint64(size - 1))
        while True:
            other = occupant[place]
            if other < 0:
                occupant[place] = k
                class_of[k] = count
                count += 1
                break
            same = hashes[other] == hashes[k]
            w = 0
            while same and w < num_words_:
                same = table[w, other] == table[w, k]
                w += 1
            if same:
                class_of[k] = class_of[other]
                break
            place = (place + 1) & (size - 1)
    return count
