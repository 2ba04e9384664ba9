"""Truth values packed in 64-bit words, and the random numbers of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._numba import intrinsic, njit, types

Words = NDArray[np.uint64]


def kernel(*arguments: Any, **options: Any) -> Any:
    """`njit` without counting references: half of a step's time otherwise goes into that.

    Such code may not allocate; all arrays are made by the caller, who holds on to them.
    """
    return njit(*arguments, _nrt=False, **options)


# SplitMix64 (Steele, Lea and Flood, 2014): one addition and one mix a number, so that a plain
# Python integer can follow the compiled engine exactly.
GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)


def _popcount(typing_context, word):
    """The number of ones in a word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount: Any = intrinsic(_popcount)


def _trailing_zeros(typing_context, word):
    """The place of the lowest one in a word; 64 if there is none."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


trailing_zeros: Any = intrinsic(_trailing_zeros)


@njit(inline="always")
def mix(state):
    """The random number that belongs to a state of SplitMix64."""
    z = (state ^ (state >> _S30)) * MIX_1
    z = (z ^ (z >> _S27)) * MIX_2
    return z ^ (z >> _S31)


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
