"""A pool's truth table turned on its side: a row of bits over the atoms for each example."""

from __future__ import annotations

import numpy as np

from .._numba import kept
from ._bits import Words
from ._lanes import LANES

BATCH = 8
"""Rows are added up so many at a time."""


def row_width(num_atoms: int) -> int:
    """The number of words in a row, which has a bit for each atom."""
    return -(-num_atoms // (64 * LANES)) * LANES


def error_rows(table: Words, labels: Words, pairs: int) -> Words:
    """Rows in which the bit of an atom is set if it errs, one after another in a flat array.

    A row for each bit of `labels`: the atom differs from the label. Then three for each bit of the
    `pairs` words of implications: the source is inside; the target is outside; both. At the end a
    row of ones, one for each atom, and an empty row.
    """
    labelled, num_atoms = len(labels), table.shape[1]
    width = row_width(num_atoms)
    sources, targets = table[labelled : labelled + pairs], table[labelled + pairs :]
    words = np.concatenate(
        [table[:labelled] ^ labels[:, None], sources, ~targets, sources & ~targets]
    )
    rows = np.zeros((64 * len(words) + 2, width), dtype=np.uint64)
    _transpose(np.ascontiguousarray(words), rows)
    full, rest = divmod(num_atoms, 64)
    rows[-2, :full] = np.uint64(0xFFFFFFFFFFFFFFFF)
    if rest:
        rows[-2, full] = np.uint64((1 << rest) - 1)
    return rows.reshape(-1)


@kept(error_model="numpy")
def _transpose(words, rows):
    """Bit b of `words[w, k]` becomes bit k of row 64 w + b, by blocks of 64 × 64 bits."""
    block = np.empty(64, np.uint64)
    for w in range(words.shape[0]):
        for first in range(0, words.shape[1], 64):
            for k in range(64):
                inside = first + k < words.shape[1]
                block[k] = words[w, first + k] if inside else np.uint64(0)
            # Swap the off-diagonal halves of ever smaller squares.
            size, mask = 32, np.uint64(0x00000000FFFFFFFF)
            while size:
                shift = np.uint64(size)
                k = 0
                while k < 64:
                    moved = ((block[k] >> shift) ^ block[k + size]) & mask
                    block[k] ^= moved << shift
                    block[k + size] ^= moved
                    k = (k + size + 1) & ~size
                size //= 2
                mask ^= mask << np.uint64(size)
            for b in range(64):
                rows[64 * w + b, first // 64] = block[b]
