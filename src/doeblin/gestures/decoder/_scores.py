"""Scores of candidates: sums over letters, context, and probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .restart import Floats, Network


def letter_sums(
    network: Network, rows: NDArray, owners: NDArray[np.int64], shape: tuple[int, ...]
) -> Floats:
    """The network's outputs, added up over the letters of each of so many candidates."""
    sums = np.zeros((int(np.prod(shape)), network.num_outputs))
    # The rows of a word are neighbours: sums from one first row to the next.
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    if len(first):
        sums[owners[first]] = np.add.reduceat(network(rows), first)
    return sums.reshape(*shape, -1)


def log_normalised(scores: Floats) -> Floats:
    """Log-probabilities from scores, row by row; a row without any score stays at -inf."""
    top = scores.max(axis=-1, keepdims=True)
    shifted = scores - np.where(np.isfinite(top), top, 0.0)
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.where(total > 0, shifted - np.log(np.maximum(total, 1e-300)), -np.inf)


def with_context(seen: Floats, scores: Floats) -> Floats:
    """What is seen of each candidate, and after it the mean over its rivals and itself.

    They count by their `scores` so far, -inf where there is no candidate. How well a word fits says
    more beside how well the others do: a careless trace is far from every word.
    """
    mean = np.einsum("nk,nkm->nm", np.exp(log_normalised(scores)), seen)
    return np.concatenate([seen, np.broadcast_to(mean[:, None], seen.shape)], axis=-1)
