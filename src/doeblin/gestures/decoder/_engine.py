"""The compiled entry points: candidates of traces, and gradients of their likelihood."""

from __future__ import annotations

import math

import numpy as np

from ..._numba import NOUGHT, kept, larger, part, prange, smaller
from .restart._lattice import align, follow, follow_back, look_ahead, walk, walk_back
from .restart._potentials import add_gradient
from .restart._prepare import TINY, prepare
from .restart._weights import DOUBLE, PRIOR
from .words._shapes import trace_features

# How much less is pruned where the first walk found no word worth having.
_EASE = 1e-6


@part(error_model="numpy")
def select(scores, ids, size, keep, out_ids, out_scores):
    """The `keep` largest scores in descending order; the rest of the output is left alone."""
    found = 0
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
def candidates(
    xs, ys, ts, starts, plane, weights, letters, rate, least, most,
    extra, extra_keys, extra_frames, extra_starts,
    letter, first_child, first_word, words, levels, best, prune, prune_deep, keep,
    word_keys, word_starts, doubled, log_frequency, doubles,
    out_ids, out_scores, out_totals, out_counts, out_features, out_hits,
):  # fmt: skip
    """The `keep` best words of each trace by log m(word) + log-prior, with their features.

    `out_totals[e]` holds the logs of the sums over the lexicon and over all spellings,
    `out_counts[e]` how many words were found and how many nodes of the trie were kept.
    `out_hits[e, k]` gets the frames in which the letters of word k are hit, if there is room.
    """
    nodes = len(letter)
    num_keys = len(plane)
    node_of = np.empty(nodes, np.int64)
    source_of = np.empty(nodes, np.int64)
    level_start = np.empty(len(levels) + 1, np.int64)
    arriving = np.empty((nodes, most))
    mass = np.empty((nodes, most + 1))
    ahead = np.empty((num_keys + 1, most + 1))
    scores = np.empty(len(words))
    ids = np.empty(len(words), np.int64)
    for e in range(len(starts) - 1):
        a, b = starts[e], starts[e + 1]
        r, q = extra_starts[e], extra_starts[e + 1]
        count, _frames, hit, dwell, transit, logs = prepare(
            xs[a:b], ys[a:b], ts[a:b], plane, weights, rate, least, most,
            extra[r:q], extra_keys[r:q], extra_frames[r:q],
        )  # fmt: skip
        scale = 0.0
        for i in range(count):
            scale += logs[i]
        spelt = look_ahead(letters, hit, dwell, transit, count, ahead)
        size, kept, top = NOUGHT, NOUGHT, -np.inf
        for attempt in range(2):
            ease = 1.0 if attempt == 0 else _EASE
            kept = walk(
                letter, first_child, levels, best, weights[PRIOR], prune * ease,
                prune_deep * ease, hit, dwell, transit, ahead, count,
                node_of, source_of, arriving, mass, level_start,
            )  # fmt: skip
            size, top = NOUGHT, -np.inf
            for k in range(kept):
                if mass[k, count] <= TINY:
                    continue
                node = node_of[k]
                value = math.log(mass[k, count])
                for w in range(first_word[node], first_word[node + 1]):
                    word = words[w]
                    scores[size] = (
                        value + weights[PRIOR] * log_frequency[word]
                        + weights[DOUBLE] * doubles[word]
                    )  # fmt: skip
                    top = larger(top, scores[size])
                    ids[size] = word
                    size += 1
            # No word near what the trace spells: the look-ahead may have misled the walk.
            if prune == 0.0 or (size and (spelt <= 0.0 or top > math.log(spelt))):
                break
        total = 0.0
        for k in range(size):
            total += math.exp(scores[k] - top)
        out_totals[e, 0] = scale + top + math.log(total) if size else -np.inf
        out_totals[e, 1] = scale + math.log(spelt) if spelt > 0 else -np.inf
        out_counts[e, 0] = select(scores, ids, size, keep, out_ids[e], out_scores[e])
        out_counts[e, 1] = kept
        found = out_counts[e, 0]
        masses = np.empty(found)
        for k in range(found):
            word = out_ids[e, k]
            masses[k] = (
                out_scores[e, k] - weights[PRIOR] * log_frequency[word]
                - weights[DOUBLE] * doubles[word]
            )  # fmt: skip
            out_scores[e, k] += scale
            if out_hits.shape[2]:
                keys = word_keys[word_starts[word] : word_starts[word + 1]]
                align(keys, hit, dwell, transit, count, out_hits[e, k])
        if out_features.shape[2]:
            trace_features(
                xs[a:b], ys[a:b], ts[a:b], plane, out_ids[e], masses, found, word_keys,
                word_starts, doubled, log_frequency, doubles, out_features[e],
            )  # fmt: skip


@kept(about=20, parallel=True, error_model="numpy")
def gradients(
    xs, ys, ts, starts, golds, gold_starts, gold_words, gold_prior, gold_doubles, batch,
    plane, weights, letters, rate, least, most,
    extra, extra_keys, extra_frames, extra_starts,
    letter, first_child, first_word, words, levels, best, log_frequency, doubles,
    prune, prune_deep, outlier, gradient, values, extra_gradient,
):  # fmt: skip
    """Gradients of log((1-o) p(word | trace) + o / |lexicon|), one row for each of `batch`.

    p is normalised over the trie (and the true word, should it not be there). The share o of
    outliers keeps gestures that spell something else from pulling at the weights.
    """
    nodes = len(letter)
    num_keys = len(plane)
    for e in prange(len(batch)):
        one = batch[e]
        a, b = starts[one], starts[one + 1]
        r, q = extra_starts[e], extra_starts[e + 1]
        gradient[e, :] = 0.0
        extra_gradient[r:q] = 0.0
        count, frames, hit, dwell, transit, _logs = prepare(
            xs[a:b], ys[a:b], ts[a:b], plane, weights, rate, least, most,
            extra[r:q], extra_keys[r:q], extra_frames[r:q],
        )  # fmt: skip
        near, offset_x, offset_y, lowest, motion, speeds, cells = frames
        keys = golds[gold_starts[one] : gold_starts[one + 1]]
        gold_arriving = np.empty((len(keys) + 1, count))
        gold_mass = np.empty((len(keys) + 1, count + 1))
        gold = follow(keys, hit, dwell, transit, count, gold_arriving, gold_mass)
        if gold <= TINY:
            values[e] = math.log(outlier / len(words))
            continue
        gold_score = (
            math.log(gold) + weights[PRIOR] * gold_prior[one]
            + weights[DOUBLE] * gold_doubles[one]
        )  # fmt: skip
        ahead = np.empty((num_keys + 1, count + 1))
        look_ahead(letters, hit, dwell, transit, count, ahead)
        node_of = np.empty(nodes, np.int64)
        source_of = np.empty(nodes, np.int64)
        level_start = np.empty(len(levels) + 1, np.int64)
        arriving = np.empty((nodes, count))
        mass = np.empty((nodes, count + 1))
        kept = walk(
            letter, first_child, levels, best, weights[PRIOR], prune, prune_deep,
            hit, dwell, transit, ahead, count,
            node_of, source_of, arriving, mass, level_start,
        )  # fmt: skip
        # Everything is relative to the true word's score, which is a scale as good as any.
        slope = np.zeros((kept, count + 1))
        total = 0.0
        prior_sum = 0.0
        double_sum = 0.0
        present = False
        for k in range(kept):
            if mass[k, count] <= TINY:
                continue
            node = node_of[k]
            value = math.log(mass[k, count])
            for w in range(first_word[node], first_word[node + 1]):
                word = words[w]
                score = (
                    value + weights[PRIOR] * log_frequency[word]
                    + weights[DOUBLE] * doubles[word] - gold_score
                )  # fmt: skip
                share = math.exp(smaller(score, 600.0))
                present = present or word == gold_words[one]
                total += share
                prior_sum += share * log_frequency[word]
                double_sum += share * doubles[word]
                slope[k, count] += share / mass[k, count]
        if not present:
            total += 1.0
            prior_sum += gold_prior[one]
            double_sum += gold_doubles[one]
        chance = 1.0 / total
        floor = outlier / len(words)
        likelihood = (1 - outlier) * chance + floor
        values[e] = math.log(likelihood)
        pull = (1 - outlier) * chance / likelihood
        if pull < 1e-6:
            continue
        hit_count = np.zeros((num_keys, count))
        dwell_count = np.zeros((num_keys, count))
        transit_count = np.zeros((num_keys + 1, num_keys, count))
        for k in range(kept):
            slope[k, count] *= -pull * chance
        walk_back(
            letter, hit, dwell, transit, count, kept, node_of, source_of, arriving, mass,
            slope, hit_count, dwell_count, transit_count,
        )  # fmt: skip
        gold_slope = np.zeros((len(keys) + 1, count + 1))
        gold_slope[len(keys), count] = pull * (1.0 if present else 1.0 - chance) / gold
        follow_back(
            keys, hit, dwell, transit, count, gold_arriving, gold_mass, gold_slope,
            hit_count, dwell_count, transit_count,
        )  # fmt: skip
        add_gradient(
            plane, count, near, offset_x, offset_y, lowest, motion, speeds, cells,
            hit_count, dwell_count, transit_count, gradient[e],
        )  # fmt: skip
        for row in range(r, q):
            extra_gradient[row, 0] = hit_count[extra_keys[row], extra_frames[row]]
            extra_gradient[row, 1] = dwell_count[extra_keys[row], extra_frames[row]]
        gradient[e, PRIOR] += pull * (gold_prior[one] - chance * prior_sum)
        gradient[e, DOUBLE] += pull * (gold_doubles[one] - chance * double_sum)
