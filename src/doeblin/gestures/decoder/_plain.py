"""The decoder's engine in numpy: the same numbers as the compiled one, up to rounding.

It takes several times as long for a gesture, but is there at once, where the other is compiled for
many seconds or loaded for one.
"""

from __future__ import annotations

import numpy as np

from ._found import EASE, Found, Judged
from .restart import (
    DOUBLE,
    PRIOR,
    TINY,
    Extra,
    Floats,
    Ints,
    Packed,
    Plain,
    Restart,
    Trace,
    Tree,
    plain_align,
    plain_extra,
    plain_follow,
    plain_look_ahead,
    plain_trace,
    plain_walk,
)
from .words import Words, plain_features


def candidates(
    packed: Packed, restart: Restart, extra: Extra, tree: Tree, words: Words, found: Found
) -> None:
    """As the compiled `candidates`."""
    prior, double = float(restart.weights[PRIOR]), float(restart.weights[DOUBLE])
    for e in range(len(packed.starts) - 1):
        trace = plain_trace(packed, e)
        plain = Plain(trace, restart, plain_extra(extra, e))
        ahead = plain_look_ahead(restart.letters, plain)
        spelt = float(ahead[0, -1])
        nodes, ids, masses, scores = _leaves(tree, prior, double, 1.0, plain, ahead)
        near = len(ids) and (spelt <= 0.0 or scores.max() > np.log(spelt))
        # No word near what the trace spells: the look-ahead may have misled the walk.
        if tree.prune > 0.0 and not near:
            nodes, ids, masses, scores = _leaves(tree, prior, double, EASE, plain, ahead)
        order = np.argsort(-scores, kind="stable")[: found.ids.shape[1]]
        best = len(order)
        found.totals[e] = -np.inf
        if best:
            top = scores.max()
            found.totals[e, 0] = plain.scale + top + np.log(np.exp(scores - top).sum())
        if spelt > 0:
            found.totals[e, 1] = plain.scale + np.log(spelt)
        found.ids[e, :best] = ids[order]
        found.scores[e, :best] = scores[order] + plain.scale
        found.counts[e] = best, nodes
        _look_at(trace, restart, plain, tree, words, found, e, masses[order])


def _leaves(
    tree: Tree, prior: float, double: float, ease: float, plain: Plain, ahead: Floats
) -> tuple[int, Ints, Floats, Floats]:
    """How many nodes a walk keeps; the words at them, their log-masses and their scores."""
    kept, masses = plain_walk(tree, prior, ease, plain, ahead)
    there = np.flatnonzero(masses > TINY)
    first = tree.first_word[kept[there]].astype(np.int64)
    sizes = tree.first_word[kept[there] + 1] - first
    owner = np.repeat(np.arange(len(there)), sizes)
    before = np.cumsum(sizes) - sizes
    ids = tree.words[first[owner] + np.arange(len(owner)) - before[owner]].astype(np.int64)
    values = np.log(masses[there])[owner]
    scores = values + prior * tree.log_frequency[ids] + double * tree.doubles[ids]
    return len(kept), ids, values, scores


def _look_at(
    trace: Trace,
    restart: Restart,
    plain: Plain,
    tree: Tree,
    words: Words,
    found: Found | Judged,
    e: int,
    masses: Floats,
) -> None:
    """Alignments and features of the words of trace `e`, as many as there are `masses`."""
    size = len(masses)
    if not size:
        return
    ids = found.ids[e, :size]
    keys, sizes = _padded(words, ids)
    if found.hits.shape[2]:
        plain_align(keys, sizes, plain, found.hits[e])
    if found.features.shape[2]:
        rows = found.features[e, :size]
        rows[:, 0], rows[:, 1], rows[:, 2] = masses, tree.log_frequency[ids], tree.doubles[ids]
        plain_features(trace, restart.plane, keys, sizes, words.doubled[ids], rows)


def _padded(words: Words, ids: Ints) -> tuple[Ints, Ints]:
    """The keys of words in rows, padded with their last, and how many there are of each."""
    first, sizes = words.starts[ids], words.starts[ids + 1] - words.starts[ids]
    columns = np.minimum(np.arange(sizes.max()), sizes[:, None] - 1)
    return words.keys[first[:, None] + columns], sizes


def judge(
    packed: Packed, restart: Restart, extra: Extra, tree: Tree, words: Words, found: Judged
) -> None:
    """As the compiled `judge`."""
    for e in range(len(packed.starts) - 1):
        trace = plain_trace(packed, e)
        plain = Plain(trace, restart, plain_extra(extra, e))
        size = int((np.cumprod(found.ids[e] >= 0)).sum())
        if not size:
            continue
        masses = np.log(np.maximum(plain_follow(*_padded(words, found.ids[e, :size]), plain), TINY))
        found.scores[e, :size] = plain.scale + masses
        _look_at(trace, restart, plain, tree, words, found, e, masses)
