"""The chance that a word is read: the sum over all ways to write its letters into the frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..restart import Floats
from ..words import Words

# What is less likely than this cannot be told apart, nor need be.
LEAST = -100.0
_TINY = 1e-300
# Sums are scaled once in so many frames.
_RESCALED = 4


def spread(words: Words, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys of some words side by side, padded with 0, and how many each has."""
    there = ids >= 0
    known = np.where(there, ids, 0)
    sizes = np.where(there, np.diff(words.starts)[known], 0) if len(words.starts) > 1 else 0 * ids
    place = np.arange(int(sizes.max(initial=1)))
    inside = place < sizes[..., None]
    at = np.where(inside, words.starts[known][..., None] + place, 0)
    return np.where(inside, words.keys[at], 0) if len(words.keys) else 0 * at, sizes


def log_chances(letters: NDArray[np.floating], keys: NDArray, sizes: NDArray) -> Floats:
    """log P(word | trace) of candidates: `keys[e, k, : sizes[e, k]]` in trace e; at least `LEAST`.

    A frame holds a letter or none, and a letter one frame or several in a row, as in the
    connectionist temporal classification of Graves and others (2006). Between two letters that are
    the same, there must be none; but keys are merged, so that there are no such two.
    """
    count, frames, ends = letters.shape
    keep, longest = keys.shape[1:]
    chances = np.exp(letters)
    # Candidates side by side: `written[j]` is what ends with letter j, `after[j + 1]` what ends
    # with none after it, `after[0]` with none so far.
    at = np.moveaxis(ends * np.arange(count)[:, None, None] + keys, 2, 0).reshape(longest, -1)
    written = np.zeros(at.shape)
    after = np.zeros((longest + 1, count * keep))
    after[0] = 1.0
    scale = np.zeros(count * keep)
    for frame in range(frames):
        now = np.ascontiguousarray(chances[:, frame])
        grown = written + after[:-1]
        grown[1:] += written[:-1]
        grown *= now.ravel().take(at)
        after[1:] += written
        after *= np.repeat(now[:, -1], keep)
        written = grown
        if frame % _RESCALED == 0:
            total = np.maximum(written.sum(axis=0) + after.sum(axis=0), _TINY)
            scale += np.log(total)
            written /= total
            after /= total
    last, column = np.maximum(sizes.ravel() - 1, 0), np.arange(count * keep)
    end = written[last, column] + after[last + 1, column]
    return np.maximum(scale + np.log(np.maximum(end, _TINY)), LEAST).reshape(sizes.shape)
