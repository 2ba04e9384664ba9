"""The paper's A, single-site Gibbs in the full model, and the block kernel that beats it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba import YES, njit
from ._features import (
    add_features_of,
    copy,
    label_index,
    letter_index,
    lift,
    pair_index,
    prefix_index,
    starts,
    step_index,
    touch,
    word_index,
)
from ._restart import draw_prefix, draw_suffix

# Shares below these are left out of sparse gradients.
_SMALL, _SMALL_BLOCK = 1e-4, 1e-3


@njit
def prefix_sums(num_keys, weights, sums):
    """`sums[m]` is the weight of having m letters that are a prefix of a word."""
    sums[0] = 0.0
    for m in range(1, len(sums)):
        sums[m] = sums[m - 1] + weights[prefix_index(num_keys, m)]


class Weights(NamedTuple):
    """Those of u, those of the full model, and those of the u that proposes blocks."""

    restart: NDArray[np.float64]
    full: NDArray[np.float64]
    frozen: NDArray[np.float64]


class Conditional(NamedTuple):
    """The conditional of one label given all others: `chances[v]`, adding up to one.

    For each emission e (0: no letter, else a letter) `depth[e]` is the length of the prefix that is
    in the dictionary and `ends[e]` the word that is spelled (or -1). `around` holds the previous
    letter, the place and the letter of the next one (place -1 if there is none).
    """

    chances: NDArray[np.float64]
    depth: NDArray[np.int64]
    ends: NDArray[np.int64]
    around: NDArray[np.int64]


@njit
def conditional(model, x, z, site, weights, sums, found):
    """Fills in the conditional at a site."""
    num_keys, hard, child, length = model.num_keys, model.hard, model.child, len(x)
    chances, depth, ends, around = found.chances, found.depth, found.ends, found.around
    labels = 2 * num_keys + 1
    node, size, last = 0, 0, num_keys
    for i in range(site):
        if starts(num_keys, z[i]):
            last = z[i] - 1
            if node >= 0:
                node = child[node, last]
                if node >= 0:
                    size += 1
    place, letter = -1, -1
    for i in range(site + 1, length):
        if starts(num_keys, z[i]):
            place, letter = i, z[i] - 1
            break
    around[0], around[1], around[2] = last, place, letter
    before = z[site - 1] if site > 0 else labels
    after = z[site + 1] if site + 1 < length else -1
    x_before = x[site - 1] if site > 0 else num_keys
    # A label that goes on with a letter fixes what may come before it.
    bound = after - num_keys if after > num_keys else 0
    top = -np.inf
    for v in range(labels):
        chances[v] = -np.inf
    for e in range(num_keys + 1):
        if bound and e not in (0, bound):
            continue
        here, count = node, size
        if here >= 0 and e > 0:
            here = child[here, e - 1]
            count += 1 if here >= 0 else 0
        if here >= 0 and place >= 0:
            for i in range(place, length):
                if starts(num_keys, z[i]):
                    here = child[here, z[i] - 1]
                    if here < 0:
                        break
                    count += 1
        depth[e] = count
        ends[e] = model.word[here] if here >= 0 else -1
        shared = sums[min(count, len(sums) - 1)]
        if ends[e] >= 0:
            at = word_index(num_keys)
            shared += weights[at] + weights[at + 1] * model.frequency[ends[e]]
        if e > 0:
            shared += weights[letter_index(num_keys, x[site], e - 1, last)]
        if place >= 0:
            previous = e - 1 if e > 0 else last
            shared += weights[letter_index(num_keys, x[place], letter, previous)]
        # The labels with this emission: # and, with the letter before, -c; or c alone.
        for option in range(2 if e == 0 and hard else 1):
            v = e
            if option == 1:
                if before == 0 or before == labels:
                    continue
                v = before if before > num_keys else before + num_keys
            if bound and v != bound and v != after:
                continue
            value = shared + weights[label_index(num_keys, x[site], v)]
            value += weights[step_index(num_keys, x[site], before, v)]
            value += weights[pair_index(num_keys, x[site], x_before, v)]
            if after >= 0:
                value += weights[step_index(num_keys, x[site + 1], v, after)]
            chances[v] = value
            top = max(top, value)
    total = 0.0
    for v in range(labels):
        chances[v] = math.exp(chances[v] - top) if chances[v] > -np.inf else 0.0
        total += chances[v]
    for v in range(labels):
        chances[v] /= total


@njit
def add_score(model, x, z, site, chosen, found, amount, slopes):
    """Adds `amount` times ∇ log of the conditional of `chosen` at `site`."""
    num_keys, length = model.num_keys, len(x)
    chances, depth, ends, around = found.chances, found.depth, found.ends, found.around
    if chances[chosen] > 1.0 - _SMALL:
        return
    labels = 2 * num_keys + 1
    last, place, letter = around[0], around[1], around[2]
    before = z[site - 1] if site > 0 else labels
    after = z[site + 1] if site + 1 < length else -1
    x_before = x[site - 1] if site > 0 else num_keys
    silent = 0.0
    for v in range(labels):
        share = (1.0 if v == chosen else 0.0) - chances[v]
        emits = starts(num_keys, v)
        if not emits:
            silent += share
        if abs(share) < _SMALL:
            continue
        share *= amount
        touch(slopes, label_index(num_keys, x[site], v), share)
        touch(slopes, step_index(num_keys, x[site], before, v), share)
        touch(slopes, pair_index(num_keys, x[site], x_before, v), share)
        if after >= 0:
            touch(slopes, step_index(num_keys, x[site + 1], v, after), share)
        if emits:
            at = letter_index(num_keys, x[site], v - 1, last)
            touch(slopes, at, share)
            if place >= 0:
                at = letter_index(num_keys, x[place], letter, v - 1)
                touch(slopes, at, share)
            add_dictionary(model, depth[v], ends[v], share, slopes)
    if abs(silent) >= _SMALL:
        silent *= amount
        if place >= 0:
            touch(slopes, letter_index(num_keys, x[place], letter, last), silent)
        add_dictionary(model, depth[0], ends[0], silent, slopes)


@njit
def add_dictionary(model, depth, end, share, slopes):
    num_keys = model.num_keys
    for m in range(1, depth + 1):
        touch(slopes, prefix_index(num_keys, m), share)
    if end >= 0:
        touch(slopes, word_index(num_keys), share)
        touch(slopes, word_index(num_keys) + 1, share * model.frequency[end])


@njit
def block_step(model, field, x, weights, z, versions, chances):
    """i-SIR: redraw a random prefix or suffix from u several times, pick one by exp(full - u).

    `field` is that of u at the frozen weights. `versions[0]` becomes the present state, the
    others the proposals, `chances` their probabilities. z becomes the one that is picked. Returns
    its number and the places between which u's features may differ.
    """
    count, length = len(versions), len(x)
    last = 2 * model.num_keys + 1 if model.hard else model.num_keys + 1
    copy(z, length, versions[0])
    prefix = np.random.random() < 0.5
    cut = np.random.randint(1, length + 1) if prefix else np.random.randint(0, length)
    top = -np.inf
    for k in range(count):
        if k > 0:
            copy(versions[0], length, versions[k])
            if prefix:
                draw_prefix(field, last, cut, length, versions[k])
            else:
                draw_suffix(field, model.num_keys, cut, length, versions[k])
        chances[k] = lift(model, x, versions[k], weights.frozen, weights.full)
        top = max(top, chances[k])
    total = 0.0
    for k in range(count):
        chances[k] = math.exp(chances[k] - top)
        total += chances[k]
    for k in range(count):
        chances[k] /= total
    chosen = draw(chances, count)
    copy(versions[chosen], length, z)
    return chosen, 0 if prefix else cut, min(cut + 1, length) if prefix else length


@njit
def draw(chances, size):
    """An index drawn from probabilities that add up to one."""
    left = np.random.random()
    chosen = 0
    for v in range(size):
        if chances[v] > 0.0:
            chosen = v
            left -= chances[v]
            if left < 0.0:
                break
    return chosen


class Record(NamedTuple):
    """Transitions that were taken: for chain c, step t, what was chosen among what chances.

    With single-site Gibbs these are the site and its conditional (see `conditional`), with the
    block kernel the versions and the places (from `sites` up to `stops`) where they may differ.
    `old` and `new` are the labels, or the numbers of the versions.
    """

    sites: NDArray[np.int64]
    stops: NDArray[np.int64]
    old: NDArray[np.int64]
    new: NDArray[np.int64]
    chances: NDArray[np.float64]
    depth: NDArray[np.int64]
    ends: NDArray[np.int64]
    around: NDArray[np.int64]
    versions: NDArray[np.int64]


@njit
def make_record(num_keys, longest, chains, steps, proposals):
    """Room for some chains and steps. `proposals` = 0 is single-site Gibbs."""
    labels = 2 * num_keys + 1
    single, block = (0, steps) if proposals > 0 else (steps, 0)
    return Record(
        np.zeros((chains, steps), np.int64),
        np.zeros((chains, steps), np.int64),
        np.zeros((chains, steps), np.int64),
        np.zeros((chains, steps), np.int64),
        np.zeros((chains, steps, max(labels, proposals + 1))),
        np.zeros((chains, single, num_keys + 1), np.int64),
        np.zeros((chains, single, num_keys + 1), np.int64),
        np.zeros((chains, single, 3), np.int64),
        np.zeros((chains, block, proposals + 1, longest), np.int64),
    )


@njit
def move(record, step, model, field, x, weights, sums, z):
    """One transition from z, kept as a step (c, t): that of chain c at time t."""
    if record.versions.shape[1] > 0:
        record.old[step] = 0
        record.new[step], record.sites[step], record.stops[step] = block_step(
            model, field, x, weights, z, record.versions[step], record.chances[step]
        )
        return
    site = np.random.randint(len(x))
    conditional(model, x, z, site, weights.full, sums, conditional_of(record, step))
    record.sites[step] = site
    record.old[step] = z[site]
    record.new[step] = draw(record.chances[step], 2 * model.num_keys + 1)
    z[site] = record.new[step]


@njit
def conditional_of(record, step):
    """The conditional of a step of single-site Gibbs."""
    return Conditional(
        record.chances[step], record.depth[step], record.ends[step], record.around[step]
    )


@njit
def add_move(record, step, chosen, model, x, z, amount, slopes):
    """Adds `amount` times ∇ log of the chance of `chosen` at a step; z is the state before it."""
    if record.versions.shape[1] == 0:
        found = conditional_of(record, step)
        add_score(model, x, z, record.sites[step], chosen, found, amount, slopes)
        return
    versions, chances = record.versions[step], record.chances[step]
    for k in range(len(versions)):
        share = (1.0 if k == chosen else 0.0) - chances[k]
        # Proposals are often the same: their shares go to the first one.
        again = False
        for other in range(len(versions)):
            if other != k and same(versions[other], versions[k], len(x)):
                again = again or other < k
                share += (1.0 if other == chosen else 0.0) - chances[other]
        if not again and abs(share) > _SMALL_BLOCK:
            # The shares add up to zero, and so do the features that all versions have.
            between = record.sites[step], record.stops[step]
            add_features_of(model, x, between, versions[k], YES, amount * share, slopes)


@njit
def same(one, other, length):
    """Whether two labellings agree."""
    for i in range(length - 1, -1, -1):  # noqa: SIM110 (compiled)
        if one[i] != other[i]:
            return False
    return True


@njit
def replay(record, step, length, z):
    """Takes a kept step once more."""
    if record.versions.shape[1] > 0:
        copy(record.versions[step][record.new[step]], length, z)
    else:
        z[record.sites[step]] = record.new[step]
