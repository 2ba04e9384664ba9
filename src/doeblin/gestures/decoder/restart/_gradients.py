"""The compiled gradient of u's likelihood, normalised over the trie."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import kept, part, smaller
from ._arrays import TINY, Potentials
from ._frames import trace_of
from ._lattice import (
    follow,
    follow_back,
    look_ahead,
    walk,
    walk_arrays,
    walk_back,
    word_score,
)
from ._potentials import add_gradient
from ._prepare import extra_of, prepare
from ._weights import DOUBLE, PRIOR


@part(error_model="numpy")
def one_gradient(trace, target, restart, extra, tree, outlier, gradient, extra_gradient):
    """The log-likelihood of one gesture; adds its derivatives, which are zero before."""
    keys, gold_word, gold_prior, gold_doubles = target
    plane, weights = restart.plane, restart.weights
    num_keys, nodes = len(plane), len(tree.letter)
    count, frames, potentials, _logs = prepare(trace, restart, extra)
    gold_arriving = np.empty((len(keys) + 1, count))
    gold_mass = np.empty((len(keys) + 1, count + 1))
    gold = follow(keys, potentials, count, gold_arriving, gold_mass)
    floor = outlier / len(tree.words)
    if gold <= TINY:
        return math.log(floor)
    gold_score = math.log(gold) + weights[PRIOR] * gold_prior + weights[DOUBLE] * gold_doubles
    ahead = np.empty((num_keys + 1, count + 1))
    look_ahead(restart.letters, potentials, count, ahead)
    walked = walk_arrays(tree, nodes, count)
    kept = walk(tree, weights[PRIOR], 1.0, potentials, ahead, count, walked)
    # Everything is relative to the true word's score, which is a scale as good as any.
    mass = walked.mass
    slope = np.zeros((kept, count + 1))
    total = 0.0
    prior_sum = 0.0
    double_sum = 0.0
    present = False
    for k in range(kept):
        if mass[k, count] <= TINY:
            continue
        node = walked.node_of[k]
        value = math.log(mass[k, count])
        for w in range(tree.first_word[node], tree.first_word[node + 1]):
            word = tree.words[w]
            score = word_score(value, weights, tree, word) - gold_score
            share = math.exp(smaller(score, 600.0))
            present = present or word == gold_word
            total += share
            prior_sum += share * tree.log_frequency[word]
            double_sum += share * tree.doubles[word]
            slope[k, count] += share / mass[k, count]
    if not present:
        total += 1.0
        prior_sum += gold_prior
        double_sum += gold_doubles
    chance = 1.0 / total
    likelihood = (1 - outlier) * chance + floor
    pull = (1 - outlier) * chance / likelihood
    if pull < 1e-6:
        return math.log(likelihood)
    counts = Potentials(
        np.zeros((num_keys, count)),
        np.zeros((num_keys, count)),
        np.zeros((num_keys + 1, num_keys, count)),
    )
    for k in range(kept):
        slope[k, count] *= -pull * chance
    walk_back(tree.letter, potentials, count, kept, walked, slope, counts)
    gold_slope = np.zeros((len(keys) + 1, count + 1))
    gold_slope[len(keys), count] = pull * (1.0 if present else 1.0 - chance) / gold
    follow_back(keys, potentials, count, gold_arriving, gold_mass, gold_slope, counts)
    add_gradient(plane, count, frames, counts, gradient)
    for row in range(len(extra_gradient)):
        extra_gradient[row, 0] = counts.hit[extra.keys[row], extra.frames[row]]
        extra_gradient[row, 1] = counts.dwell[extra.keys[row], extra.frames[row]]
    gradient[PRIOR] += pull * (gold_prior - chance * prior_sum)
    gradient[DOUBLE] += pull * (gold_doubles - chance * double_sum)
    return math.log(likelihood)


@kept(about=8, nogil=True, error_model="numpy")
def gradients(packed, targets, batch, restart, extra, tree, outlier, slopes):
    """Gradients of log((1-o) p(word | trace) + o / |lexicon|), one row for each of `batch`.

    p is normalised over the trie (and the true word, should it not be there). The share o of
    outliers keeps gestures that spell something else from pulling at the weights.
    """
    for e in range(len(batch)):
        one = batch[e]
        target = (
            targets.keys[targets.starts[one] : targets.starts[one + 1]],
            targets.words[one], targets.log_frequency[one], targets.doubles[one],
        )  # fmt: skip
        added = extra_of(extra, e)
        r, q = extra.starts[e], extra.starts[e + 1]
        slopes.weights[e, :] = 0.0
        slopes.extra[r:q] = 0.0
        slopes.values[e] = one_gradient(
            trace_of(packed, one), target, restart, added, tree, outlier,
            slopes.weights[e], slopes.extra[r:q],
        )  # fmt: skip
