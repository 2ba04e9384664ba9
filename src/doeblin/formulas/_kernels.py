"""The compiled steps of the search. `_reference.py` says the same slowly and plainly.

A formula of n disjuncts with m atoms each is `codes[i * m + j]`, numbers of atoms in the pool. All
truth values over the examples are words: first the labelled examples, then the sources of the
implications, then their targets. Bits without an example are zero in every atom and in the labels,
so they never cost anything.

Kernels are specialised on the number of words only through `width`, a tuple with one element for
each word of labelled examples; the empty tuple leaves it open at run time.
"""

# pyright: reportIndexIssue=false, reportOptionalSubscript=false
from __future__ import annotations

import math

import numpy as np

from ._bits import GAMMA, mix, njit, popcount

RESTART, METROPOLIS, GIBBS = 0, 1, 2
FULL, SIMPLIFIED = 0, 1
# Positions in the `control` array that carries a chain from one call to the next.
STAGE, LEFT, STEPS, TOURS, COST, BEST, TRACED, CONTROL_SIZE = 0, 1, 2, 3, 4, 5, 6, 7

BLOCK = 64
IMPOSSIBLE = 1 << 30
# A number of steps that no chain takes.
NEVER = 1 << 62

_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_S11, _S32 = np.uint64(11), np.uint64(32)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@njit(inline="always")
def below(bits, bound):
    """32 random bits as a number below `bound`."""
    return np.int64((bits * np.uint64(bound)) >> _S32)


@njit(inline="always")
def unit(number):
    """A random number as a float in [0, 1)."""
    return float(number >> _S11) * 2.0**-53


@njit
def sojourn(number, exit_rate):
    """A Geometric(exit_rate) number of steps, at least one; endless when nothing exits."""
    if exit_rate <= 0.0:
        return np.int64(1) << 62
    if exit_rate >= 1.0:
        return np.int64(1)
    return np.int64(1) + np.int64(math.log(1.0 - unit(number)) / math.log1p(-exit_rate))


@njit
def drawn(number, cumulative):
    """The first index whose cumulative weight exceeds a uniform share of the total."""
    total = cumulative[len(cumulative) - 1]
    share = np.uint64(unit(number) * float(total))
    if share >= total:
        share = total - _ONE
    low, high = 0, len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > share:
            high = middle
        else:
            low = middle + 1
    return low


@njit(inline="always")
def weighed(word, shifts, w):
    """The cost of the ones in word `w`: a word's examples weigh 2**shift each."""
    if shifts is None:
        return np.int64(popcount(word))
    else:
        return np.int64(popcount(word)) << shifts[w]


@njit
def load(rows, columns, c, q, atoms):
    if rows.shape[0]:
        for w in range(atoms.shape[1]):
            atoms[q, w] = rows[c, w]
    else:
        for w in range(atoms.shape[1]):
            atoms[q, w] = columns[w, c]


@njit
def conjoin(atoms, i, m, disjuncts):
    for w in range(atoms.shape[1]):
        word = _ONES
        for j in range(m):
            word &= atoms[i * m + j, w]
        disjuncts[i, w] = word


@njit
def set_others(atoms, i, skip, m, others):
    """For every atom of disjunct i but `skip`: the conjunction of the other atoms."""
    for q in range(i * m, i * m + m):
        if q != skip:
            for w in range(atoms.shape[1]):
                word = _ONES
                for e in range(i * m, i * m + m):
                    if e != q:
                        word &= atoms[e, w]
                others[q, w] = word


@njit
def set_rest(disjuncts, skip, rest):
    """For every disjunct but `skip`: the disjunction of the other disjuncts."""
    n = disjuncts.shape[0]
    for i in range(n):
        if i != skip:
            for w in range(disjuncts.shape[1]):
                word = _ZERO
                for e in range(n):
                    if e != i:
                        word |= disjuncts[e, w]
                rest[i, w] = word


@njit
def full_cost(disjuncts, labels, shifts, pairs):
    n = disjuncts.shape[0]
    labelled = len(labels)
    cost = 0
    for w in range(labelled + pairs):
        word = _ZERO
        for i in range(n):
            word |= disjuncts[i, w]
        if w < labelled:
            cost += weighed(word ^ labels[w], shifts, w)
        else:
            target = _ZERO
            for i in range(n):
                target |= disjuncts[i, w + pairs]
            cost += weighed(word & ~target, shifts, w)
    return cost


@njit
def disjunct_cost(disjuncts, i, labels, shifts, false_positive, false_negative):
    """The simplified cost of disjunct i, less the constant for the positive examples."""
    cost = 0
    for w in range(len(labels)):
        word = disjuncts[i, w]
        cost += false_positive * weighed(word & ~labels[w], shifts, w)
        cost -= false_negative * weighed(word & labels[w], shifts, w)
    return cost


@njit
def note(control, codes, best_codes, trace, cost, steps):
    """Remember the best formula so far, and when it was found."""
    control[BEST] = cost
    for q in range(len(codes)):
        best_codes[q] = codes[q]
    if control[TRACED] < len(trace):
        trace[control[TRACED], 0] = steps
        trace[control[TRACED], 1] = cost
        trace[control[TRACED], 2] = control[TOURS]
        control[TRACED] += 1


@njit
def metropolis_full(
    rows, neighbours, labels, shifts, width, m, pairs, single, accept,
    codes, atoms, others, disjuncts, rest, random, control, best_codes, trace, count,
):  # fmt: skip
    """At most `count` Metropolis steps under the full cost; returns the steps taken."""
    labelled = len(width) if len(width) > 0 else len(labels)
    num_atoms, degree = len(rows), neighbours.shape[1]
    s = random[0]
    cost = control[COST]
    taken = 0
    while cost > 0 and taken < count:
        taken += 1
        s += GAMMA
        first = mix(s)
        s += GAMMA
        second = mix(s)
        q = below(second & _LOW, len(codes))
        i = q // m
        # Both proposals are looked up and one is selected: cheaper than a branch guessed wrong.
        c = below(second >> _S32, num_atoms)
        edited = np.int64(neighbours[codes[q], below(second >> _S32, degree)])
        if (first >> _S32) < single:
            c = edited
        new = 0
        for w in range(labelled):
            new += weighed(((rows[c, w] & others[q, w]) | rest[i, w]) ^ labels[w], shifts, w)
        for w in range(labelled, labelled + pairs):
            source = (rows[c, w] & others[q, w]) | rest[i, w]
            target = (rows[c, w + pairs] & others[q, w + pairs]) | rest[i, w + pairs]
            new += weighed(source & ~target, shifts, w)
        worse = new - cost
        if worse <= 0 or (worse < len(accept) and (first & _LOW) < accept[worse]):
            cost = new
            codes[q] = c
            for w in range(labelled + 2 * pairs):
                atoms[q, w] = rows[c, w]
                disjuncts[i, w] = rows[c, w] & others[q, w]
            set_others(atoms, i, q, m, others)
            set_rest(disjuncts, i, rest)
            if cost < control[BEST]:
                note(control, codes, best_codes, trace, cost, control[STEPS] + taken)
    random[0] = s
    control[COST] = cost
    return taken


@njit
def metropolis_simplified(
    rows, neighbours, labels, shifts, width, m, single, accept, penalties,
    codes, atoms, others, disjuncts, random, count,
):  # fmt: skip
    """`count` Metropolis steps under the simplified cost."""
    labelled = len(width) if len(width) > 0 else len(labels)
    num_atoms, degree = len(rows), neighbours.shape[1]
    costs = np.empty(len(disjuncts), np.int64)
    for i in range(len(disjuncts)):
        costs[i] = disjunct_cost(disjuncts, i, labels, shifts, penalties[0], penalties[1])
    s = random[0]
    for _ in range(count):
        s += GAMMA
        first = mix(s)
        s += GAMMA
        second = mix(s)
        q = below(second & _LOW, len(codes))
        i = q // m
        # Both proposals are looked up and one is selected: cheaper than a branch guessed wrong.
        c = below(second >> _S32, num_atoms)
        edited = np.int64(neighbours[codes[q], below(second >> _S32, degree)])
        if (first >> _S32) < single:
            c = edited
        wrong = 0
        right = 0
        for w in range(labelled):
            word = rows[c, w] & others[q, w]
            wrong += weighed(word & ~labels[w], shifts, w)
            right += weighed(word & labels[w], shifts, w)
        new = penalties[0] * wrong - penalties[1] * right
        worse = new - costs[i]
        if worse <= 0 or (worse < len(accept) and (first & _LOW) < accept[worse]):
            costs[i] = new
            codes[q] = c
            for w in range(atoms.shape[1]):
                atoms[q, w] = rows[c, w]
                disjuncts[i, w] = rows[c, w] & others[q, w]
            set_others(atoms, i, q, m, others)
    random[0] = s
    return count


@njit
def evaluate_full(columns, others, rest, labels, shifts, pairs, costs):
    """The full cost with every atom of the pool in the one place, up to a common constant.

    Only bits that the atom can change count: inside the other atoms and outside the other
    disjuncts. Words without such bits are passed over.
    """
    labelled = len(labels)
    costs[:] = 0
    for w in range(labelled):
        matter = others[w] & ~rest[w]
        if matter != _ZERO:
            right = labels[w] & matter
            column = columns[w]
            if shifts is None:
                for c in range(len(costs)):
                    costs[c] += np.int32(popcount((column[c] & matter) ^ right))
            else:
                for c in range(len(costs)):
                    costs[c] += np.int32(weighed((column[c] & matter) ^ right, shifts, w))
    for w in range(labelled, labelled + pairs):
        free = ~rest[w + pairs]
        matter = others[w] & free
        inside = rest[w] & free
        mends = others[w + pairs]
        if matter | inside != _ZERO:
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
    total = _ZERO
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
    total = _ZERO
    for b in range(num_blocks):
        near = blocks[b] <= farthest
        blocks[b] = _ZERO
        if near:
            part = slice(b * BLOCK, b * BLOCK + BLOCK)
            blocks[b] = total_weight(costs[part], prior[part], heat, least)
            total += blocks[b]
    share = np.uint64(unit(number) * float(total))
    if share >= total:
        share = total - _ONE
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
            word = _ZERO
            for i in range(n):
                word |= disjuncts[i, w]
            if w < labelled:
                word ^= labels[w]
            else:
                target = _ZERO
                for i in range(n):
                    target |= disjuncts[i, w + pairs]
                word &= ~target
            ones = np.int64(popcount(word))
            if not second:
                total += ones
            elif left < ones:
                for _ in range(left):
                    word &= word - _ONE
                bit = popcount((word & (~word + _ONE)) - _ONE)
                if w < labelled:
                    return w, bit, np.int64((labels[w] >> bit) & _ONE)
                if number & _ONE:
                    return w, bit, np.int64(0)
                return w + pairs, bit, np.int64(1)
            else:
                left -= ones
        chosen = below(number >> _S32, total)
    return 0, _ZERO, np.int64(0)


@njit
def mending_atom(atoms, disjuncts, m, w, bit, wanted, number):
    """An atom through which the example at (w, bit) can become `wanted`."""
    n = disjuncts.shape[0]
    if wanted:
        # The disjunct that fewest atoms keep from holding, the first after a random one on ties.
        start = below(number >> _S32, n)
        fewest, chosen = m + 1, 0
        for e in range(n):
            i = (start + e) % n
            failing = 0
            for q in range(i * m, i * m + m):
                failing += np.int64(_ONE ^ ((atoms[q, w] >> bit) & _ONE))
            if failing < fewest:
                fewest, chosen = failing, i
        left = below(number & _LOW, fewest)
        for q in range(chosen * m, chosen * m + m):
            if not (atoms[q, w] >> bit) & _ONE:
                if left == 0:
                    return q
                left -= 1
    holding = 0
    for i in range(n):
        holding += np.int64((disjuncts[i, w] >> bit) & _ONE)
    left = below(number >> _S32, holding)
    for i in range(n):
        if (disjuncts[i, w] >> bit) & _ONE:
            if left == 0:
                return i * m + below(number & _LOW, m)
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
        q = below(number & _LOW, n * m)
        wanted = np.int64(-1)
        at, bit = 0, _ZERO
        if (number >> _S32) < focus:
            s += GAMMA
            at, bit, wanted = violated_bit(disjuncts, labels, pairs, mix(s))
            s += GAMMA
            q = mending_atom(atoms, disjuncts, m, at, bit, wanted, mix(s))
        i = q // m
        for w in range(num_words):
            word = _ONES
            for e in range(i * m, i * m + m):
                if e != q:
                    word &= atoms[e, w]
            others[w] = word
            word = _ZERO
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
                if np.int64((column[c] >> bit) & _ONE) != wanted:
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


@njit(cache=True, error_model="numpy")
def advance(
    limit, soft_limit,
    rows, columns, neighbours, prior, cumulative, labels, shifts, width, m, pairs,
    kinds, chances, penalties, accept, accept_size, heat, heat_size, exits, jumps,
    codes, atoms, others, disjuncts, rest, costs, blocks, random, control, best_codes, trace,
):  # fmt: skip
    """Runs the staged chain until it is solved or has taken `limit` steps in all.

    It also ends at the first restart once `soft_limit` steps have been taken.
    """
    while control[BEST] > 0 and control[STEPS] < limit:
        stage = control[STAGE]
        if control[LEFT] == 0:
            if kinds[stage, 0] == RESTART and control[STEPS] >= soft_limit:
                break
            # The schedule: leave for another stage, and draw how long to stay there.
            random[0] += GAMMA
            share = unit(mix(random[0]))
            stage = 0
            while stage < len(exits) - 1 and jumps[control[STAGE], stage] <= share:
                stage += 1
            control[STAGE] = stage
            random[0] += GAMMA
            control[LEFT] = sojourn(mix(random[0]), exits[stage])
        count = min(control[LEFT], limit - control[STEPS])
        simplified = kinds[stage, 1] == SIMPLIFIED
        if kinds[stage, 0] == RESTART:
            for _ in range(count):
                for q in range(len(codes)):
                    random[0] += GAMMA
                    codes[q] = drawn(mix(random[0]), cumulative)
            control[TOURS] += count
            taken = count
            for q in range(len(codes)):
                load(rows, columns, codes[q], q, atoms)
            for i in range(len(disjuncts)):
                conjoin(atoms, i, m, disjuncts)
        elif kinds[stage, 0] == METROPOLIS:
            for i in range(len(disjuncts)):
                set_others(atoms, i, -1, m, others)
            if simplified:
                taken = metropolis_simplified(
                    rows, neighbours, labels, shifts, width, m, chances[stage, 0],
                    accept[stage, : accept_size[stage]], penalties[stage],
                    codes, atoms, others, disjuncts, random, count,
                )  # fmt: skip
            else:
                set_rest(disjuncts, -1, rest)
                taken = metropolis_full(
                    rows, neighbours, labels, shifts, width, m, pairs, chances[stage, 0],
                    accept[stage, : accept_size[stage]],
                    codes, atoms, others, disjuncts, rest, random, control, best_codes, trace,
                    count,
                )  # fmt: skip
        else:
            taken = gibbs(
                rows, columns, prior, labels, shifts, m, pairs, simplified, chances[stage, 1],
                heat[stage, : heat_size[stage]], penalties[stage],
                codes, atoms, disjuncts, random, control, best_codes, trace, costs, blocks,
                count,
            )  # fmt: skip
        control[STEPS] += taken
        control[LEFT] -= taken
        if control[LEFT] == 0 and (simplified or kinds[stage, 0] == RESTART):
            control[COST] = full_cost(disjuncts, labels, shifts, pairs)
            if control[COST] < control[BEST]:
                note(control, codes, best_codes, trace, control[COST], control[STEPS])
