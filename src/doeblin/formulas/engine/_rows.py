"""A pool's truth table turned on its side: a row of bits over the atoms for each example."""

from __future__ import annotations

import numpy as np

from ._bits import Words

LANES = 4
"""Words that are worked on at once."""
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
    rows[:-2] = _transposed(words, width).reshape(-1, width)
    full, rest = divmod(num_atoms, 64)
    rows[-2, :full] = np.uint64(0xFFFFFFFFFFFFFFFF)
    if rest:
        rows[-2, full] = np.uint64((1 << rest) - 1)
    return rows.reshape(-1)


def _transposed(words: Words, width: int) -> Words:
    """Bit b of `words[w, k]` becomes bit k of row `[w, b]`: blocks of 64 × 64 bits, all at once."""
    padded = np.zeros((len(words), 64 * width), dtype=np.uint64)
    padded[:, : words.shape[1]] = words
    # The places within a block come first, so that loops run over blocks.
    block = padded.reshape(len(words), width, 64).transpose(2, 0, 1).copy()
    # Swap the off-diagonal halves of ever smaller squares.
    size, mask = 32, 0x00000000FFFFFFFF
    while size:
        halves = block.reshape(-1, 2, size, len(words), width)
        shift = np.uint64(size)
        moved = ((halves[:, 0] >> shift) ^ halves[:, 1]) & np.uint64(mask)
        halves[:, 0] ^= moved << shift
        halves[:, 1] ^= moved
        size //= 2
        mask ^= mask << size & 0xFFFFFFFFFFFFFFFF
    return block.transpose(1, 0, 2)
