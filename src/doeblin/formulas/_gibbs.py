"""Compiled whole-atom Gibbs moves: weigh every atom of the pool in one place, then draw."""

from __future__ import annotations

import numpy as np

from ._bits import GAMMA, mix, njit, popcount
from ._state import (
    BEST,
    BLOCK,
    COST,
    IMPOSSIBLE,
    LOW,
    ONE,
    ONES,
    S32,
    STEPS,
    ZERO,
    below,
    conjoin,
    full_cost,
    load,
    note,
    unit,
    weighed,
)


@njit
def count_two(first, second, matter, right, other_matter, other_right, costs):
    for c in range(len(costs)):
        costs[c] += np.int32(popcount((first[c] & matter) ^ right)) + np.int32(
            popcount((second[c] & other_matter) ^ other_right)
        )


@njit
def evaluate_full(columns, others, rest, labels, shifts, pairs, costs):
    """The full cost with every atom of the pool in the one place, up to a common constant.

    Only bits that the atom can change count: inside the other atoms and outside the other
    disjuncts. Words without such bits are passed over, the rest are taken two at a time.
    """
    labelled = len(labels)
    costs[:] = 0
    waiting = -1
    for w in range(labelled):
        matter = others[w] & ~rest[w]
        if matter == ZERO:
            continue
        if shifts is not None:
            column = columns[w]
            right = labels[w] & matter
            for c in range(len(costs)):
                costs[c] += np.int32(weighed((column[c] & matter) ^ right, shifts, w))
        elif waiting < 0:
            waiting = w
        else:
            before = others[waiting] & ~rest[waiting]
            count_two(
                columns[waiting], columns[w], before, labels[waiting] & before,
                matter, labels[w] & matter, costs,
            )  # fmt: skip
            waiting = -1
    if waiting >= 0:
        before = others[waiting] & ~rest[waiting]
        count_two(
            columns[waiting], columns[waiting], before, labels[waiting] & before, ZERO, ZERO, costs
        )
    for w in range(labelled, labelled + pairs):
        free = ~rest[w + pairs]
        matter = others[w] & free
        inside = rest[w] & free
        mends = others[w + pairs]
        if matter | inside != ZERO:
            sources = columns[w]
            targets = columns[w + pairs]
            for c in range(len(costs)):
                violated = ((sources[c] & matter) | inside) & ~(targets[c] & mends)
                costs[c] += np.int32(weighed(violated, shifts, w))


@njit
def evaluate_simplified(columns, others, labels, shifts, penalties, costs):
    """The disjunct's simplified cost with every atom of the pool in the one place."""
    costs[:] = 0
    for w in range(len(labels)):
        wrong = others[w] & ~labels[w]
        right = others[w] & labels[w]
        column = columns[w]
        for c in range(len(costs)):
            costs[c] += np.int32(
                penalties[0] * weighed(column[c] & wrong, shifts, w)
                + penalties[1] * weighed(~column[c] & right, shifts, w)
            )


@njit
def least_of(costs):
    least = np.int32(IMPOSSIBLE)
    for c in range(len(costs)):
        least = min(least, costs[c])
    return least


@njit
def total_weight(costs, prior, heat, least):
    """Σ prior · heat[cost - least]. The last entry of `heat` is zero and stands for all beyond."""
    last = np.int32(len(heat) - 1)
    total = ZERO
    for c in range(len(costs)):
        # An unsigned index spares the check for negative ones, so that this loop is vectorised.
        level = np.uint32(min(costs[c] - least, last))
        total += np.uint64(prior[c]) * np.uint64(heat[level])
    return total


@njit
def heat_bath(number, costs, prior, heat, blocks):
    """Draws an atom with weight prior · heat[cost - least cost], or -1 when none is possible.

    Weights are integers, so that sums do not depend on their order. `blocks` is scratch space.
    """
    num_blocks = (len(costs) + BLOCK - 1) // BLOCK
    least = np.int32(IMPOSSIBLE)
    for b in range(num_blocks):
        lowest = least_of(costs[b * BLOCK : b * BLOCK + BLOCK])
        blocks[b] = np.uint64(lowest)
        least = min(least, lowest)
    if least >= IMPOSSIBLE:
        return -1
    farthest = np.uint64(least + len(heat) - 2)
    total = ZERO
    for b in range(num_blocks):
        near = blocks[b] <= farthest
        blocks[b] = ZERO
        if near:
            part = slice(b * BLOCK, b * BLOCK + BLOCK)
            blocks[b] = total_weight(costs[part], prior[part], heat, least)
            total += blocks[b]
    share = np.uint64(unit(number) * float(total))
    if share >= total:
        share = total - ONE
    b = 0
    while blocks[b] <= share:
        share -= blocks[b]
        b += 1
    c = b * BLOCK
    while True:
        weight = total_weight(costs[c : c + 1], prior[c : c + 1], heat, least)
        if weight > share:
            return c
        share -= weight
        c += 1


@njit
def violated_bit(disjuncts, labels, pairs, number):
    """A random violated example as `(word, bit, wanted)`; `number` chooses.

    A violated implication is mended by pushing its source out or pulling its target in.
    """
    n = disjuncts.shape[0]
    labelled = len(labels)
    total = 0
    chosen = -1
    # Two passes: count the violated examples, then stop at the chosen one.
    for second in range(2):
        left = chosen
        for w in range(labelled + pairs):
            word = ZERO
            for i in range(n):
                word |= disjuncts[i, w]
            if w < labelled:
                word ^= labels[w]
            else:
                target = ZERO
                for i in range(n):
                    target |= disjuncts[i, w + pairs]
                word &= ~target
            ones = np.int64(popcount(word))
            if not second:
                total += ones
            elif left < ones:
                for _ in range(left):
                    word &= word - ONE
                bit = popcount((word & (~word + ONE)) - ONE)
                if w < labelled:
                    return w, bit, np.int64((labels[w] >> bit) & ONE)
                if number & ONE:
                    return w, bit, np.int64(0)
                return w + pairs, bit, np.int64(1)
            else:
                left -= ones
        chosen = below(number >> S32, total)
    return 0, ZERO, np.int64(0)


@njit
def mending_atom(atoms, disjuncts, m, w, bit, wanted, number):
    """An atom through which the example at (w, bit) can become `wanted`."""
    n = disjuncts.shape[0]
    if wanted:
        # The disjunct that fewest atoms keep from holding, the first after a random one on ties.
        start = below(number >> S32, n)
        fewest, chosen = m + 1, 0
        for e in range(n):
            i = (start + e) % n
            failing = 0
            for q in range(i * m, i * m + m):
                failing += np.int64(ONE ^ ((atoms[q, w] >> bit) & ONE))
            if failing < fewest:
                fewest, chosen = failing, i
        left = below(number & LOW, fewest)
        for q in range(chosen * m, chosen * m + m):
            if not (atoms[q, w] >> bit) & ONE:
                if left == 0:
                    return q
                left -= 1
    holding = 0
    for i in range(n):
        holding += np.int64((disjuncts[i, w] >> bit) & ONE)
    left = below(number >> S32, holding)
    for i in range(n):
        if (disjuncts[i, w] >> bit) & ONE:
            if left == 0:
                return i * m + below(number & LOW, m)
            left -= 1
    return 0


@njit
def gibbs(
    rows, columns, prior, labels, shifts, m, pairs, simplified, focus, heat, penalties,
    codes, atoms, disjuncts, random, control, best_codes, trace, costs, blocks, count,
):  # fmt: skip
    """At most `count` whole-atom Gibbs steps; returns the steps taken."""
    n, num_words = disjuncts.shape
    others = np.empty(num_words, np.uint64)
    rest = np.empty(num_words, np.uint64)
    s = random[0]
    taken = 0
    while (simplified or control[COST] > 0) and taken < count:
        taken += 1
        s += GAMMA
        number = mix(s)
        q = below(number & LOW, n * m)
        wanted = np.int64(-1)
        at, bit = 0, ZERO
        if (number >> S32) < focus:
            s += GAMMA
            at, bit, wanted = violated_bit(disjuncts, labels, pairs, mix(s))
            s += GAMMA
            q = mending_atom(atoms, disjuncts, m, at, bit, wanted, mix(s))
        i = q // m
        for w in range(num_words):
            word = ONES
            for e in range(i * m, i * m + m):
                if e != q:
                    word &= atoms[e, w]
            others[w] = word
            word = ZERO
            for e in range(n):
                if e != i:
                    word |= disjuncts[e, w]
            rest[w] = word
        if simplified:
            evaluate_simplified(columns, others, labels, shifts, penalties, costs)
        else:
            evaluate_full(columns, others, rest, labels, shifts, pairs, costs)
        if wanted >= 0:
            column = columns[at]
            for c in range(len(costs)):
                if np.int64((column[c] >> bit) & ONE) != wanted:
                    costs[c] = IMPOSSIBLE
        s += GAMMA
        c = heat_bath(mix(s), costs, prior, heat, blocks)
        if c < 0:
            continue
        codes[q] = c
        load(rows, columns, c, q, atoms)
        conjoin(atoms, i, m, disjuncts)
        if not simplified:
            control[COST] = full_cost(disjuncts, labels, shifts, pairs)
            if control[COST] < control[BEST]:
                note(control, codes, best_codes, trace, control[COST], control[STEPS] + taken)
    random[0] = s
    return taken
