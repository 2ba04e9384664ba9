"""The compiled entry point: the candidates of traces, with what A sees of each."""

from __future__ import annotations

import math

import numpy as np

from ..._numba import NOUGHT, kept, larger, part, smaller
from ._found import EASE
from .restart import (
    DOUBLE,
    PRIOR,
    TINY,
    align,
    extra_of,
    look_ahead,
    prepare,
    trace_of,
    walk,
    walk_arrays,
    word_score,
)
from .words import trace_features


@part(error_model="numpy")
def select(scores, ids, size, out_ids, out_scores):
    """The largest scores in descending order; what is left of the output is left alone."""
    found, keep = 0, len(out_ids)
    for s in range(size):
        if found == keep and scores[s] <= out_scores[found - 1]:
            continue
        # Sorted in from below, over the least if there is no room.
        k = found - 1 if found == keep else found
        found = smaller(found + 1, keep)
        while k > 0 and out_scores[k - 1] < scores[s]:
            out_ids[k], out_scores[k] = out_ids[k - 1], out_scores[k - 1]
            k -= 1
        out_ids[k], out_scores[k] = ids[s], scores[s]
    return found


@kept(about=10, nogil=True, error_model="numpy")
def candidates(packed, restart, extra, tree, words, found):
    """The best words of each trace by log m(word) + log-prior, as many as fit into `found`."""
    weights = restart.weights
    walked = walk_arrays(tree, len(tree.letter), restart.most)
    node_of, mass = walked.node_of, walked.mass
    ahead = np.empty((len(restart.plane) + 1, restart.most + 1))
    scores = np.empty(len(tree.words))
    ids = np.empty(len(tree.words), np.int64)
    for e in range(len(packed.starts) - 1):
        trace = trace_of(packed, e)
        count, _frames, potentials, logs = prepare(trace, restart, extra_of(extra, e))
        scale = 0.0
        for i in range(count):
            scale += logs[i]
        spelt = look_ahead(restart.letters, potentials, count, ahead)
        size, kept, top = NOUGHT, NOUGHT, -np.inf
        for attempt in range(2):
            ease = 1.0 if attempt == 0 else EASE
            kept = walk(tree, weights[PRIOR], ease, potentials, ahead, count, walked)
            size, top = NOUGHT, -np.inf
            for k in range(kept):
                if mass[k, count] <= TINY:
                    continue
                node = node_of[k]
                value = math.log(mass[k, count])
                for w in range(tree.first_word[node], tree.first_word[node + 1]):
                    ids[size] = tree.words[w]
                    scores[size] = word_score(value, weights, tree, tree.words[w])
                    top = larger(top, scores[size])
                    size += 1
            # No word near what the trace spells: the look-ahead may have misled the walk.
            if tree.prune == 0.0 or (size and (spelt <= 0.0 or top > math.log(spelt))):
                break
        total = 0.0
        for k in range(size):
            total += math.exp(scores[k] - top)
        found.totals[e, 0] = scale + top + math.log(total) if size else -np.inf
        found.totals[e, 1] = scale + math.log(spelt) if spelt > 0 else -np.inf
        best = select(scores, ids, size, found.ids[e], found.scores[e])
        found.counts[e, 0], found.counts[e, 1] = best, kept
        masses = np.empty(best)
        for k in range(best):
            word = found.ids[e, k]
            masses[k] = (
                found.scores[e, k] - weights[PRIOR] * tree.log_frequency[word]
                - weights[DOUBLE] * tree.doubles[word]
            )  # fmt: skip
            found.scores[e, k] += scale
            if found.hits.shape[2]:
                keys = words.keys[words.starts[word] : words.starts[word + 1]]
                align(keys, potentials, count, found.hits[e, k])
        if found.features.shape[2]:
            trace_features(
                trace, restart.plane, found.ids[e], masses, words, tree, found.features[e]
            )
