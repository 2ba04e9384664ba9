"""The compiled entry points: candidates of traces, and gradients of their likelihood."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np

from ._frames import make_frames, num_frames
from ._lattice import advance, follow, follow_back, look_ahead, walk, walk_back
from ._numba import njit, prange
from ._potentials import add_gradient, make_potentials, transit_cells
from ._shapes import trace_features
from ._weights import DOUBLE, PRIOR

_TINY = 1e-290
# How much less is pruned where the first walk found no word worth having.
_EASE = 1e-6


@njit
def frame_arrays(count, num_keys):
    return (
        np.empty((count, num_keys)),
        np.empty((count, num_keys)),
        np.empty((count, num_keys)),
        np.empty((count, num_keys), np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty((num_keys, num_keys, count), np.int32),
    )


@njit
def prepare(x, y, t, plane, weights, rate, least, most):
    """Frames and potentials of one trace."""
    num_keys = len(plane)
    count = num_frames(x, y, t, rate, least, most)
    frames = frame_arrays(count, num_keys)
    near, offset_x, offset_y, lowest, motion, speeds, cells = frames
    place = np.empty((count, 2))
    move = np.empty((count, 2))
    make_frames(
        x, y, t, plane, count, near, offset_x, offset_y, lowest, motion, speeds, place, move
    )
    transit_cells(plane, count, place, move, cells)
    hit = np.empty((num_keys, count))
    dwell = np.empty((num_keys, count))
    transit = np.empty((num_keys + 1, num_keys, count))
    logs = np.empty(count)
    make_potentials(
        weights, plane, count, near, offset_x, offset_y, lowest, motion, speeds, cells,
        hit, dwell, transit, logs,
    )  # fmt: skip
    return count, frames, hit, dwell, transit, logs


@njit
def select(scores, ids, size, keep, out_ids, out_scores):
    """The `keep` largest scores in descending order; the rest of the output is left alone."""
    found = min(keep, size)
    order = np.argsort(-scores[:size])
    for k in range(found):
        out_ids[k] = ids[order[k]]
        out_scores[k] = scores[order[k]]
    return found


def _compiled(source: bytes):
    """The entry points, cached on disk under a key that includes `source`.

    numba's cache watches the file of a cached function only, not those of the functions that it
    calls; a captured variable is part of the key, so an edit of any of them compiles anew.
    """

    @njit(cache=True)
    def candidates(
        xs, ys, ts, starts, plane, weights, letters, rate, least, most,
        letter, first_child, first_word, words, levels, best, prune, prune_deep, keep,
        word_keys, word_starts, doubled, log_frequency, doubles,
        out_ids, out_scores, out_totals, out_counts, out_features,
    ):  # fmt: skip
        """The `keep` best words of each trace by log m(word) + log-prior, with their features.

        `out_totals[e]` holds the logs of the sums over the lexicon and over all spellings,
        `out_counts[e]` how many words were found and how many nodes of the trie were kept.
        """
        _ = source
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
            count, _frames, hit, dwell, transit, logs = prepare(
                xs[a:b], ys[a:b], ts[a:b], plane, weights, rate, least, most
            )
            scale = logs.sum()
            spelt = look_ahead(letters, hit, dwell, transit, count, ahead)
            size, kept, top = 0, 0, -np.inf
            for attempt in range(2):
                ease = 1.0 if attempt == 0 else _EASE
                kept = walk(
                    letter, first_child, levels, best, weights[PRIOR], prune * ease,
                    prune_deep * ease, hit, dwell, transit, ahead, count,
                    node_of, source_of, arriving, mass, level_start,
                )  # fmt: skip
                size, top = 0, -np.inf
                for k in range(kept):
                    if mass[k, count] <= _TINY:
                        continue
                    node = node_of[k]
                    value = math.log(mass[k, count])
                    for w in range(first_word[node], first_word[node + 1]):
                        word = words[w]
                        scores[size] = (
                            value + weights[PRIOR] * log_frequency[word]
                            + weights[DOUBLE] * doubles[word]
                        )  # fmt: skip
                        top = max(top, scores[size])
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
            if out_features.shape[2]:
                trace_features(
                    xs[a:b], ys[a:b], ts[a:b], plane, out_ids[e], masses, found, word_keys,
                    word_starts, doubled, log_frequency, doubles, out_features[e],
                )  # fmt: skip

    @njit(cache=True, parallel=True)
    def gradients(
        xs, ys, ts, starts, golds, gold_starts, gold_words, gold_prior, gold_doubles, batch,
        plane, weights, letters, rate, least, most,
        letter, first_child, first_word, words, levels, best, log_frequency, doubles,
        prune, prune_deep, outlier, gradient, values,
    ):  # fmt: skip
        """Gradients of log((1-o) p(word | trace) + o / |lexicon|), one row for each of `batch`.

        p is normalised over the trie (and the true word, should it not be there). The share o of
        outliers keeps gestures that spell something else from pulling at the weights.
        """
        _ = source
        nodes = len(letter)
        num_keys = len(plane)
        for e in prange(len(batch)):
            one = batch[e]
            a, b = starts[one], starts[one + 1]
            gradient[e, :] = 0.0
            count, frames, hit, dwell, transit, _logs = prepare(
                xs[a:b], ys[a:b], ts[a:b], plane, weights, rate, least, most
            )
            near, offset_x, offset_y, lowest, motion, speeds, cells = frames
            keys = golds[gold_starts[one] : gold_starts[one + 1]]
            gold_arriving = np.empty((len(keys) + 1, count))
            gold_mass = np.empty((len(keys) + 1, count + 1))
            gold = follow(keys, hit, dwell, transit, count, gold_arriving, gold_mass)
            if gold <= _TINY:
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
                if mass[k, count] <= _TINY:
                    continue
                node = node_of[k]
                value = math.log(mass[k, count])
                for w in range(first_word[node], first_word[node + 1]):
                    word = words[w]
                    score = (
                        value + weights[PRIOR] * log_frequency[word]
                        + weights[DOUBLE] * doubles[word] - gold_score
                    )  # fmt: skip
                    share = math.exp(min(score, 600.0))
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
            gradient[e, PRIOR] += pull * (gold_prior[one] - chance * prior_sum)
            gradient[e, DOUBLE] += pull * (gold_doubles[one] - chance * double_sum)

    @njit(cache=True)
    def spell(x, y, t, plane, weights, letters, rate, least, most, out_keys, out_sizes, out_masses):
        """The best strings of letters by log m + log-probability of the letters; a beam search.

        Prefixes are ranked by their mass times the exact mass of all that may follow.
        """
        _ = source
        beam, longest = out_keys.shape
        num_keys = len(plane)
        count, _frames, hit, dwell, transit, logs = prepare(
            x, y, t, plane, weights, rate, least, most
        )
        scale = logs.sum()
        ahead = np.empty((num_keys + 1, count + 1))
        look_ahead(letters, hit, dwell, transit, count, ahead)
        masses = np.zeros((beam, count + 1))
        masses[0, 0] = 1.0
        prefixes = np.full((beam, longest), -1)
        weight = np.zeros(beam)
        alive = 1
        found = 0
        arriving = np.empty(count)
        mass = np.empty((beam * num_keys, count + 1))
        promise = np.empty(beam * num_keys)
        for size in range(1, longest + 1):
            for k in range(alive):
                previous = prefixes[k, size - 2] if size > 1 else num_keys
                for c in range(num_keys):
                    at = k * num_keys + c
                    promise[at] = -np.inf
                    if c == previous or letters[previous, c] <= 0.0:
                        continue
                    advance(
                        masses[k], hit[c], dwell[c], transit[previous, c], count, arriving,
                        mass[at],
                    )  # fmt: skip
                    value = 0.0
                    for i in range(count):
                        value += arriving[i] * hit[c, i] * ahead[c, i + 1]
                    if value > _TINY:
                        promise[at] = math.log(value) + weight[k] + math.log(letters[previous, c])
            order = np.argsort(-promise[: alive * num_keys])
            new_prefixes = np.full((beam, longest), -1)
            new_weight = np.zeros(beam)
            new_alive = 0
            for at in order[:beam]:
                if promise[at] == -np.inf:
                    break
                # Every string found so far beats all that this prefix may become.
                if found == beam and promise[at] + scale <= out_masses[:beam].min():
                    break
                k, c = at // num_keys, at % num_keys
                previous = prefixes[k, size - 2] if size > 1 else num_keys
                new_prefixes[new_alive] = prefixes[k]
                new_prefixes[new_alive, size - 1] = c
                new_weight[new_alive] = weight[k] + math.log(letters[previous, c])
                new_alive += 1
            kept = np.zeros((beam, count + 1))
            for n in range(new_alive):
                kept[n] = mass[order[n]]
                c = new_prefixes[n, size - 1]
                if kept[n, count] > _TINY and letters[c, num_keys] > 0.0:
                    value = (
                        math.log(kept[n, count]) + new_weight[n] + math.log(letters[c, num_keys])
                        + scale
                    )  # fmt: skip
                    slot = found
                    if found == beam:
                        slot = np.argmin(out_masses)
                        if out_masses[slot] >= value:
                            continue
                    else:
                        found += 1
                    out_masses[slot] = value
                    out_sizes[slot] = size
                    out_keys[slot] = new_prefixes[n]
            masses, prefixes, weight, alive = kept, new_prefixes, new_weight, new_alive
            if alive == 0:
                break
        return found

    @njit(cache=True)
    def spelt(x, y, t, plane, weights, letters, rate, least, most, keys):
        """log m of one word (by its merged keys), and the log of the mass of all spellings."""
        _ = source
        count, _frames, hit, dwell, transit, logs = prepare(
            x, y, t, plane, weights, rate, least, most
        )
        arriving = np.empty((len(keys) + 1, count))
        mass = np.empty((len(keys) + 1, count + 1))
        value = follow(keys, hit, dwell, transit, count, arriving, mass)
        ahead = np.empty((len(plane) + 1, count + 1))
        total = look_ahead(letters, hit, dwell, transit, count, ahead)
        scale = logs.sum()
        return (
            scale + math.log(value) if value > _TINY else -np.inf,
            scale + math.log(total) if total > _TINY else -np.inf,
        )

    return candidates, gradients, spell, spelt


def _digest() -> bytes:
    folder = Path(__file__).parent
    names = (
        "_weights.py",
        "_frames.py",
        "_potentials.py",
        "_lattice.py",
        "_shapes.py",
        "_engine.py",
    )
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).digest()


_entries: tuple[Any, ...] = _compiled(_digest())
candidates, gradients, spell, spelt = _entries
