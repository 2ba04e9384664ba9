"""Truth values packed in 64-bit words, and the constants of the engine's random numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint64]

# SplitMix64 (Steele, Lea and Flood, 2014): one addition and one mix a number, so that a plain
# Python integer can follow the compiled engine exactly.
GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def num_words(bits: int) -> int:
    """How many words hold so many bits; at least one."""
    return max(1, -(-bits // 64))


def pack(truth: ArrayLike) -> Words:
    """Booleans along the last axis into words, the first in the lowest bit, padded with False.

    >>> pack([True, False, True])
    array([5], dtype=uint64)
    """
    flags = np.asarray(truth, dtype=bool)
    padded = np.zeros((*flags.shape[:-1], 64 * num_words(flags.shape[-1])), dtype=bool)
    padded[..., : flags.shape[-1]] = flags
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64)


def unpack(words: Words, bits: int) -> NDArray[np.bool_]:
    """The first `bits` truth values of packed words; the inverse of `pack`."""
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=bits, bitorder="little").astype(bool)
