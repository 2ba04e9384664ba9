"""The compiled beam search over strings of letters, and what u and A see of the strings found."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import NOUGHT, kept, larger, part, smaller
from ..restart import (
    TINY,
    advance,
    align,
    extra_of,
    follow,
    look_ahead,
    prepare,
    trace_of,
)
from ..words import trace_features


@part(error_model="numpy")
def _place(values, count, value):
    """Where `value` belongs among `count` values in descending order, or -1 if there is no room.

    Makes room by moving the values after it; the caller moves what goes with them.
    """
    room = len(values)
    if count == room and value <= values[count - 1]:
        return NOUGHT - 1
    k = count - 1 if count == room else count
    while k > 0 and values[k - 1] < value:
        values[k] = values[k - 1]
        k -= 1
    values[k] = value
    return k


@part(error_model="numpy")
def _known(tree, words, keys, size, doubled):
    """Whether the lexicon has the word with these keys, one of them doubled or none (-1)."""
    node = NOUGHT
    for j in range(size):
        child = NOUGHT - 1
        for one in range(tree.first_child[node], tree.first_child[node + 1]):
            if tree.letter[one] == keys[j]:
                child = NOUGHT + one
        if child < 0:
            return False
        node = child
    for w in range(tree.first_word[node], tree.first_word[node + 1]):
        word = tree.words[w]
        if doubled < 0 and tree.doubles[word] == 0:
            return True
        if doubled >= 0 and tree.doubles[word] == 1 and words.doubled[word] == keys[doubled]:
            return True
    return False


@part(error_model="numpy")
def _keep(found, e, count, value, keys, size, doubled):
    """Puts a string among the best ones of trace `e`; returns how many there are."""
    at = _place(found.weights[e], count, value)
    if at < 0:
        return count
    count = smaller(count + 1, found.weights.shape[1])
    for k in range(count - 1, at, -1):
        found.sizes[e, k], found.doubled[e, k] = found.sizes[e, k - 1], found.doubled[e, k - 1]
        for j in range(found.keys.shape[2]):
            found.keys[e, k, j] = found.keys[e, k - 1, j]
    found.sizes[e, at], found.doubled[e, at] = size, doubled
    for j in range(found.keys.shape[2]):
        found.keys[e, at, j] = keys[j] if j < size else -1
    return count


@part(error_model="numpy")
def _keep_all(found, e, count, value, keys, twice, tree, words):
    """The string itself and with one letter doubled, where the lexicon does not have it."""
    size = len(keys)
    previous = len(twice) - 1
    single = value
    for j in range(size):
        single += math.log(1 - twice[previous, keys[j]])
        previous = keys[j]
    if not _known(tree, words, keys, size, NOUGHT - 1):
        count = _keep(found, e, count, single, keys, size, NOUGHT - 1)
    previous = len(twice) - 1
    for j in range(size):
        chance = twice[previous, keys[j]]
        double = single + math.log(chance) - math.log(1 - chance)
        previous = keys[j]
        full = count == found.weights.shape[1]
        if not (full and double <= found.weights[e, count - 1]) and not _known(
            tree, words, keys, size, NOUGHT + j
        ):
            count = _keep(found, e, count, double, keys, size, NOUGHT + j)
    return count


@kept(about=6, nogil=True, error_model="numpy")
def spell(packed, restart, extra, tree, words, twice, beam, found):
    """The best strings of letters out of the lexicon, by log m + log-probability of the letters.

    Prefixes are ranked by their mass times the exact mass of all that may follow; `beam` of them go
    on at each length. Of doubled letters, a string has one at most.
    """
    num_keys, letters, longest = len(restart.plane), restart.letters, found.keys.shape[2]
    prefixes, new_prefixes = (
        np.empty((beam, longest), np.int64),
        np.empty((beam, longest), np.int64),
    )
    weight, new_weight = np.empty(beam), np.empty(beam)
    promise, chosen = np.empty(beam), np.empty(beam, np.int64)
    for e in range(len(packed.starts) - 1):
        count, _frames, potentials, _logs = prepare(
            trace_of(packed, e), restart, extra_of(extra, e)
        )
        hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
        ahead = np.empty((num_keys + 1, count + 1))
        look_ahead(letters, potentials, count, ahead)
        masses, new_masses = np.empty((beam, count + 1)), np.empty((beam, count + 1))
        mass, arriving = np.empty((beam * num_keys, count + 1)), np.empty(count)
        for i in range(count + 1):
            masses[0, i] = 0.0
        masses[0, 0] = 1.0
        weight[0] = 0.0
        alive, kept = NOUGHT + 1, NOUGHT
        for size in range(1, longest + 1):
            going = NOUGHT
            for k in range(alive):
                previous = prefixes[k, size - 2] if size > 1 else num_keys
                for c in range(num_keys):
                    if c == previous or letters[previous, c] <= 0.0:
                        continue
                    at = k * num_keys + c
                    advance(
                        masses[k], hit[c], dwell[c], transit[previous, c], count, arriving,
                        mass[at],
                    )  # fmt: skip
                    value = 0.0
                    for i in range(count):
                        value += arriving[i] * hit[c, i] * ahead[c, i + 1]
                    if value <= TINY:
                        continue
                    value = math.log(value) + weight[k] + math.log(letters[previous, c])
                    # Every string kept so far beats all that this prefix may become.
                    if kept == found.weights.shape[1] and value <= found.weights[e, kept - 1]:
                        continue
                    place = _place(promise, going, value)
                    if place < 0:
                        continue
                    going = smaller(going + 1, beam)
                    for m in range(going - 1, place, -1):
                        chosen[m] = chosen[m - 1]
                    chosen[place] = at
            for n in range(going):
                k, c = chosen[n] // num_keys, chosen[n] % num_keys
                previous = prefixes[k, size - 2] if size > 1 else num_keys
                for j in range(size - 1):
                    new_prefixes[n, j] = prefixes[k, j]
                new_prefixes[n, size - 1] = c
                new_weight[n] = weight[k] + math.log(letters[previous, c])
                for i in range(count + 1):
                    new_masses[n, i] = mass[chosen[n], i]
                if new_masses[n, count] > TINY and letters[c, num_keys] > 0.0:
                    value = math.log(new_masses[n, count]) + new_weight[n]
                    value += math.log(letters[c, num_keys])
                    kept = _keep_all(
                        found, e, kept, value, new_prefixes[n, :size], twice, tree, words
                    )
            prefixes, new_prefixes = new_prefixes, prefixes
            weight, new_weight = new_weight, weight
            masses, new_masses = new_masses, masses
            alive = going
            if alive == 0:
                break


@kept(about=6, nogil=True, error_model="numpy")
def judge(packed, restart, extra, tree, words, found):
    """Masses, alignments and features of the words of each trace in `found.ids`."""
    for e in range(len(packed.starts) - 1):
        trace = trace_of(packed, e)
        count, _frames, potentials, logs = prepare(trace, restart, extra_of(extra, e))
        scale = 0.0
        for i in range(count):
            scale += logs[i]
        size = NOUGHT
        while size < found.ids.shape[1] and found.ids[e, size] >= 0:
            size += 1
        masses = np.empty(size)
        for k in range(size):
            word = found.ids[e, k]
            keys = words.keys[words.starts[word] : words.starts[word + 1]]
            arriving = np.empty((len(keys) + 1, count))
            mass = np.empty((len(keys) + 1, count + 1))
            masses[k] = math.log(larger(follow(keys, potentials, count, arriving, mass), TINY))
            found.scores[e, k] = scale + masses[k]
            if found.hits.shape[2]:
                align(keys, potentials, count, found.hits[e, k])
        if found.features.shape[2]:
            trace_features(
                trace, restart.plane, found.ids[e], masses, words, tree, found.features[e]
            )


@kept(about=5, error_model="numpy")
def spelt(trace, restart, extra, keys):
    """log m of one word (by its merged keys), and the log of the mass of all spellings."""
    count, _frames, potentials, logs = prepare(trace, restart, extra)
    arriving = np.empty((len(keys) + 1, count))
    mass = np.empty((len(keys) + 1, count + 1))
    value = follow(keys, potentials, count, arriving, mass)
    ahead = np.empty((len(restart.plane) + 1, count + 1))
    total = look_ahead(restart.letters, potentials, count, ahead)
    scale = logs.sum()
    return (
        scale + math.log(value) if value > TINY else -np.inf,
        scale + math.log(total) if total > TINY else -np.inf,
    )
