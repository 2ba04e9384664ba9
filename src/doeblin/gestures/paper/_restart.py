"""The paper's u: a linear-chain CRF with exact sums, draws and expectations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba import kept, njit
from ._features import adagrad, label_index, make_slopes, pair_index, step_index, touch

# Expectations below this are left out of sparse gradients.
_SMALL = 1e-6


@njit
def potentials(num_keys, x, length, weights, hard, unary, step):
    """exp of u's scores: `unary[i, v]`, and `step[i, p, v]` with zeros where v cannot follow p.

    Without `hard`, no label goes on a letter (27 labels for 26 keys).
    """
    labels = 2 * num_keys + 1
    last = labels if hard else num_keys + 1
    for i in range(length):
        x_before = x[i - 1] if i > 0 else num_keys
        for v in range(last):
            unary[i, v] = math.exp(
                weights[label_index(num_keys, x[i], v)]
                + weights[pair_index(num_keys, x[i], x_before, v)]
            )
        for p in range(last if i > 0 else 1):
            before = p if i > 0 else labels
            for v in range(num_keys + 1):
                step[i, p, v] = math.exp(weights[step_index(num_keys, x[i], before, v)])
            for v in range(num_keys + 1, last):
                step[i, p, v] = 0.0
            if hard and i > 0 and p > 0:
                v = p if p > num_keys else p + num_keys
                step[i, p, v] = math.exp(weights[step_index(num_keys, x[i], p, v)])
    return last


@njit
def backward(num_keys, length, last, unary, step, behind):
    """Scaled sums over what follows; returns the log-partition."""
    total = 0.0
    for v in range(last):
        behind[length - 1, v] = 1.0
    for i in range(length - 1, 0, -1):
        scale = 0.0
        for p in range(last):
            value = 0.0
            for v in range(num_keys + 1):
                value += step[i, p, v] * unary[i, v] * behind[i, v]
            if p > 0 and last > num_keys + 1:
                v = p if p > num_keys else p + num_keys
                value += step[i, p, v] * unary[i, v] * behind[i, v]
            behind[i - 1, p] = value
            scale += value
        for p in range(last):
            behind[i - 1, p] /= scale
        total += math.log(scale)
    first = 0.0
    for v in range(num_keys + 1):
        first += step[0, 0, v] * unary[0, v] * behind[0, v]
    return total + math.log(first)


@njit
def pick(weights, size):
    """An index drawn in proportion to its weight."""
    total = 0.0
    for v in range(size):
        total += weights[v]
    left = np.random.random() * total
    chosen = -1
    for v in range(size):
        if weights[v] > 0.0:
            chosen = v
            left -= weights[v]
            if left < 0.0:
                break
    return chosen


@njit
def forward(length, last, unary, step, before):
    """Scaled sums over what came before."""
    for i in range(length):
        scale = 0.0
        for v in range(last):
            value = step[0, 0, v] if i == 0 else 0.0
            if i > 0:
                for p in range(last):
                    value += before[i - 1, p] * step[i, p, v]
            before[i, v] = value * unary[i, v]
            scale += before[i, v]
        for v in range(last):
            before[i, v] /= scale


class Field(NamedTuple):
    """u for one gesture: exp of its scores, sums, and tables to draw from.

    `suffix[i, p]` adds up the chances of what follows label p at place i: of the labels 0 … K, then
    of going on with p. `prefix[i, n, v]` does so for the label v before a label n.
    """

    unary: NDArray[np.float64]
    step: NDArray[np.float64]
    behind: NDArray[np.float64]
    before: NDArray[np.float64]
    suffix: NDArray[np.float64]
    prefix: NDArray[np.float64]


@njit
def make_field(num_keys, longest):
    """An empty field for gestures of up to `longest` keys."""
    labels = 2 * num_keys + 1
    return Field(
        np.zeros((longest, labels)),
        np.zeros((longest, labels, labels)),
        np.zeros((longest, labels)),
        np.zeros((longest, labels)),
        np.zeros((longest, labels, num_keys + 2)),
        np.zeros((longest, labels, labels)),
    )


@njit
def fill_field(field, num_keys, x, length, weights, hard, prefixes):
    """Fills a field (`prefix` if asked). Returns the number of labels and the log-partition."""
    unary, step, behind = field.unary, field.step, field.behind
    last = potentials(num_keys, x, length, weights, hard, unary, step)
    log_partition = backward(num_keys, length, last, unary, step, behind)
    for i in range(length):
        for p in range(last if i > 0 else 1):
            total = 0.0
            for v in range(num_keys + 1):
                total += step[i, p, v] * unary[i, v] * behind[i, v]
                field.suffix[i, p, v] = total
            if hard and i > 0 and p > 0:
                v = p if p > num_keys else p + num_keys
                total += step[i, p, v] * unary[i, v] * behind[i, v]
            field.suffix[i, p, num_keys + 1] = total
    if prefixes:
        forward(length, last, unary, step, field.before)
        for i in range(length):
            for n in range(last if i + 1 < length else 1):
                total = 0.0
                for v in range(last):
                    after = step[i + 1, v, n] if i + 1 < length else 1.0
                    total += field.before[i, v] * after
                    field.prefix[i, n, v] = total
    return last, log_partition


@njit
def find(sums, size):
    """An index drawn from the running sums of its weights."""
    wanted = np.random.random() * sums[size - 1]
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@njit
def draw_suffix(field, num_keys, start, length, z):
    """Redraws z[start:] from u given z[:start]."""
    for i in range(start, length):
        p = z[i - 1] if i > 0 else 0
        v = find(field.suffix[i, p], num_keys + 2)
        if v > num_keys:
            v = p if p > num_keys else p + num_keys
        z[i] = v


@njit
def draw_prefix(field, last, stop, length, z):
    """Redraws z[:stop] from u given z[stop:]."""
    for i in range(stop - 1, -1, -1):
        n = z[i + 1] if i + 1 < length else 0
        z[i] = find(field.prefix[i, n], last)


@njit
def expect(num_keys, x, last, field, amount, slopes):
    """Adds `amount` times u's expected features."""
    unary, step, behind = field.unary, field.step, field.behind
    labels = 2 * num_keys + 1
    ahead = np.zeros(last)
    fresh = np.zeros(last)
    for i in range(len(x)):
        scale = 0.0
        for v in range(last):
            fresh[v] = 0.0
        if i == 0:
            for v in range(num_keys + 1):
                fresh[v] = step[0, 0, v] * unary[0, v]
        else:
            for p in range(last):
                if ahead[p] > 0.0:
                    for v in range(last):
                        fresh[v] += ahead[p] * step[i, p, v]
            for v in range(last):
                fresh[v] *= unary[i, v]
        for v in range(last):
            scale += fresh[v] * behind[i, v]
        x_before = x[i - 1] if i > 0 else num_keys
        for v in range(last):
            share = amount * fresh[v] * behind[i, v] / scale
            if abs(share) > _SMALL:
                touch(slopes, label_index(num_keys, x[i], v), share)
                touch(slopes, pair_index(num_keys, x[i], x_before, v), share)
                if i == 0:
                    touch(slopes, step_index(num_keys, x[0], labels, v), share)
        if i > 0:
            for p in range(last):
                for v in range(last):
                    share = amount * ahead[p] * step[i, p, v] * unary[i, v] * behind[i, v] / scale
                    if abs(share) > _SMALL:
                        touch(slopes, step_index(num_keys, x[i], p, v), share)
        norm = fresh.sum()
        for v in range(last):
            ahead[v] = fresh[v] / norm


@njit
def lattice_label(num_keys, y, place, kind):
    """The label of a lattice point: kind 0 is #, 1 starts letter `place`, 2 goes on with it."""
    return 0 if kind == 0 else y[place - 1] + 1 + (num_keys if kind == 2 else 0)


@njit
def lattice(num_keys, y, size, length, hard, unary, step, sums):
    """Scaled sums over the labellings that spell y; returns their log-weight (or -inf).

    `sums[i, j, kind]` is for place i with j letters spelled.
    """
    kinds = 3 if hard else 2
    total = 0.0
    for i in range(length):
        scale = 0.0
        for j in range(size + 1):
            for kind in range(3):
                value = 0.0
                if (j > 0 or kind == 0) and kind < kinds:
                    v = lattice_label(num_keys, y, j, kind)
                    if i == 0:
                        if (j == 0 and kind == 0) or (j == 1 and kind == 1):
                            value = step[0, 0, v]
                    else:
                        past = j - 1 if kind == 1 else j
                        for q in range(1 if kind == 2 else 0, kinds):
                            if sums[i - 1, past, q] > 0.0:
                                value += (
                                    sums[i - 1, past, q]
                                    * step[i, lattice_label(num_keys, y, past, q), v]
                                )
                    value *= unary[i, v]
                sums[i, j, kind] = value
                scale += value
        if scale <= 0.0:
            return -np.inf
        for j in range(size + 1):
            for kind in range(3):
                sums[i, j, kind] /= scale
        total += math.log(scale)
    end = sums[length - 1, size].sum()
    return total + math.log(end) if end > 0.0 else -np.inf


@njit
def draw_lattice(num_keys, y, size, length, hard, step, sums, z):
    """An exact draw of a labelling among those that spell y."""
    kinds = 3 if hard else 2
    scratch = np.zeros(3)
    j, kind = size, 0
    for i in range(length - 1, -1, -1):
        for q in range(3):
            scratch[q] = 0.0
        if i == length - 1:
            for q in range(kinds):
                scratch[q] = sums[i, size, q]
        else:
            v = lattice_label(num_keys, y, j, kind)
            if kind == 1:
                j -= 1
            for q in range(kinds):
                if sums[i, j, q] > 0.0:
                    scratch[q] = sums[i, j, q] * step[i + 1, lattice_label(num_keys, y, j, q), v]
        kind = pick(scratch, 3)
        z[i] = lattice_label(num_keys, y, j, kind)


@njit
def expect_lattice(num_keys, x, y, hard, field, sums, amount, slopes):
    """Adds `amount` times the expected features given that the labelling spells y."""
    unary, step, length, size = field.unary, field.step, len(x), len(y)
    labels = 2 * num_keys + 1
    kinds = 3 if hard else 2
    after = np.zeros((size + 1, 3))
    new = np.zeros((size + 1, 3))
    end = sums[length - 1, size].sum()
    for kind in range(kinds):
        after[size, kind] = 1.0 / end
    for i in range(length - 1, -1, -1):
        x_before = x[i - 1] if i > 0 else num_keys
        for j in range(size + 1):
            for kind in range(kinds):
                share = amount * sums[i, j, kind] * after[j, kind]
                if share == 0.0:
                    continue
                v = lattice_label(num_keys, y, j, kind)
                touch(slopes, label_index(num_keys, x[i], v), share)
                touch(slopes, pair_index(num_keys, x[i], x_before, v), share)
                if i == 0:
                    touch(slopes, step_index(num_keys, x[0], labels, v), share)
        if i == 0:
            break
        new[:] = 0.0
        scale = 0.0
        for sweep in range(2):
            # The first sweep finds the scale, the second one adds the edges.
            if sweep == 1:
                for j in range(size + 1):
                    for kind in range(3):
                        scale += sums[i - 1, j, kind] * new[j, kind]
            for j in range(size + 1):
                for kind in range(kinds):
                    if after[j, kind] <= 0.0 or (j == 0 and kind > 0):
                        continue
                    v = lattice_label(num_keys, y, j, kind)
                    past = j - 1 if kind == 1 else j
                    for q in range(1 if kind == 2 else 0, kinds):
                        if past == 0 and q > 0:
                            continue
                        p = lattice_label(num_keys, y, past, q)
                        through = step[i, p, v] * unary[i, v] * after[j, kind]
                        if sweep == 0:
                            new[past, q] += through
                        else:
                            share = amount * sums[i - 1, past, q] * through / scale
                            if share != 0.0:
                                at = step_index(num_keys, x[i], p, v)
                                touch(slopes, at, share)
        for j in range(size + 1):
            for kind in range(3):
                after[j, kind] = new[j, kind] / scale


@kept(about=5)
def likelihood_pass(num_keys, hard, gestures, order, weights, squares, rate):
    """One pass of AdaGrad on u's own likelihood of the words. Returns the mean log-likelihood."""
    longest = gestures.xs.shape[1]
    field = make_field(num_keys, longest)
    sums = np.zeros((longest, gestures.ys.shape[1] + 1, 3))
    slopes = make_slopes(len(weights))
    total = 0.0
    for e in order:
        length, size = gestures.x_sizes[e], gestures.y_sizes[e]
        x, y = gestures.xs[e, :length], gestures.ys[e, :size]
        last = potentials(num_keys, x, length, weights, hard, field.unary, field.step)
        log_partition = backward(num_keys, length, last, field.unary, field.step, field.behind)
        value = lattice(num_keys, y, size, length, hard, field.unary, field.step, sums)
        if value == -np.inf:
            continue
        total += value - log_partition
        expect_lattice(num_keys, x, y, hard, field, sums, 1.0, slopes)
        expect(num_keys, x, last, field, -1.0, slopes)
        adagrad(weights, squares, slopes, rate)
    return total / len(order)
