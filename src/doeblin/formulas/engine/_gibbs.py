"""Compiled whole-atom Gibbs moves: weigh every atom of the pool in one place, then draw."""

from __future__ import annotations

import numpy as np

from ..._numba import NOUGHT
from ._bits import GAMMA
from ._control import BEST, CONTROL_SIZE, COST, SIMPLIFIED, STEPS
from ._lanes import LANES, get, lanes_and_not, load_lanes, put, store_lanes
from ._state import LOW, ONE, ONES, S32, ZERO, conjoin, full_cost, load, note
from ._weigh import add_rows, binary_digits, heat_bath, listed
from ._words import below, kernel, mix, popcount, shift_of


@kernel()
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


@kernel()
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


@kernel(inline="always")
def untried(control, left):
    """The atom with so many untried ones before it; the last if there are too few."""
    q = -1
    while left >= 0 and CONTROL_SIZE + q + 1 < len(control):
        q += 1
        left -= 1 - get(control, CONTROL_SIZE + q)
    return q


@kernel()
def weigh_full(task, errors, width, room, q, i, planes):
    """Sums, for every atom of the pool, what it would err on; returns the number of planes.

    The full cost up to a common constant: only examples inside the other atoms and outside the
    other disjuncts depend on the atom.
    """
    labelled, pairs, shifts = len(task.labels), task.pairs, task.shifts
    others, rest, rows = room.others, room.rest, room.numbers
    most, num_planes, count = NOUGHT, NOUGHT, NOUGHT
    pair_rows = 64 * pairs
    for w in range(labelled + pairs):
        first = 64 * w
        if w < labelled:
            count = listed(others[q, w] & ~rest[i, w], first, width, rows, count)
        else:
            # Of an implication whose target is not inside anyway: the source may come inside, or is
            # inside already; the atom may or may not pull the target inside.
            free, mends = ~rest[i, w + pairs], others[q, w + pairs]
            source = others[q, w] & ~rest[i, w] & free
            count = listed(source & ~mends, first, width, rows, count)
            count = listed(rest[i, w] & free & mends, first + pair_rows, width, rows, count)
            count = listed(source & mends, first + 2 * pair_rows, width, rows, count)
        low = shift_of(shifts, w)
        ends = w == labelled + pairs - 1 or shift_of(shifts, w + 1) != low
        # Rows of equal weight are added together.
        if ends and count:
            most += count << low
            digits = binary_digits(most)
            add_rows(errors, width, rows, count, low, planes, num_planes, digits)
            num_planes, count = digits, NOUGHT
    return num_planes


@kernel()
def weigh_simplified(task, errors, width, room, q, penalty_of, planes):
    """The disjunct's simplified cost likewise: examples inside the other atoms."""
    labels, others, rows = task.labels, room.others, room.numbers
    most, num_planes = NOUGHT, NOUGHT
    for w in range(len(labels)):
        for side in range(2):
            word = others[q, w] & (labels[w] if side else ~labels[w])
            count = listed(word, 64 * w, width, rows, 0)
            low = shift_of(task.shifts, w)
            penalty = penalty_of[side]
            while penalty and count:
                if penalty & 1:
                    most += count << low
                    digits = binary_digits(most)
                    add_rows(errors, width, rows, count, low, planes, num_planes, digits)
                    num_planes = digits
                penalty >>= 1
                low += 1
    return num_planes


@kernel()
def gibbs(task, stages, stage, state, room, errors, penalties, count):
    """At most `count` whole-atom Gibbs steps; returns the steps taken."""
    codes, atoms, disjuncts, control = state.codes, state.atoms, state.disjuncts, state.control
    others, rest, words, random = room.others, room.rest, room.words, state.random
    simplified, sweep = stages.kinds[stage, 1] == SIMPLIFIED, stages.kinds[stage, 2] > 0
    focus, heat = stages.chances[stage, 1], stages.heat[stage, : stages.heat_size[stage]]
    n, num_words = disjuncts.shape
    m = len(codes) // n
    num_rows = 64 * (len(task.labels) + 3 * task.pairs) + 2
    width = len(errors) // num_rows
    allowed, chosen = words[:width], words[width : 2 * width]
    totals, planes = words[2 * width : 2 * width + len(heat)], words[2 * width + len(heat) :]
    s = random[0]
    taken = 0
    while (simplified or control[COST] > 0) and taken < count:
        taken += 1
        s += GAMMA
        number = mix(s)
        q = below(number & LOW, n * m)
        mend = (number >> S32) < focus
        if sweep:
            left = n * m
            for e in range(n * m):
                left -= get(control, CONTROL_SIZE + e)
            mend |= left == 0
            q = untried(control, below(number & LOW, left))
        for v in range(0, width, LANES):
            store_lanes(allowed, v, load_lanes(errors, (num_rows - 2) * width + v))
        if mend:
            s += GAMMA
            at, bit, wanted = violated_bit(disjuncts, task.labels, task.pairs, mix(s))
            s += GAMMA
            q = mending_atom(atoms, disjuncts, m, at, bit, wanted, mix(s))
            # Who errs there now are the atoms to avoid; an implication's source should go outside.
            at = (64 * at + np.int64(bit)) * width
            for v in range(0, width, LANES):
                bits = lanes_and_not(load_lanes(allowed, v), load_lanes(errors, at + v))
                store_lanes(allowed, v, bits)
        i = q // m
        for w in range(num_words):
            word = ONES
            for e in range(i * m, i * m + m):
                # A branch on whether this is q itself would be guessed wrong half of the time.
                word &= get(atoms, e * num_words + w) | (ZERO - np.uint64(e == q))
            put(others, q * num_words + w, word)
            word = ZERO
            for e in range(n):
                word |= get(disjuncts, e * num_words + w) & (np.uint64(e == i) - ONE)
            put(rest, i * num_words + w, word)
        num_planes = 0
        if not simplified:
            num_planes = weigh_full(task, errors, width, room, q, i, planes)
        elif penalties is not None:
            num_planes = weigh_simplified(task, errors, width, room, q, penalties[stage], planes)
        s += GAMMA
        c = heat_bath(mix(s), planes, num_planes, width, allowed, task.prior, heat, chosen, totals)
        if c < 0:
            continue
        codes[q] = c
        load(task.rows, task.columns, c, q, atoms)
        conjoin(atoms, i, m, disjuncts)
        if not simplified:
            before = control[COST]
            control[COST] = full_cost(disjuncts, task.labels, task.shifts, task.pairs)
            if mend or control[COST] < before:
                # A new sweep begins.
                for e in range(n * m):
                    put(control, CONTROL_SIZE + e, 0)
            put(control, CONTROL_SIZE + q, 1)
            if control[COST] < control[BEST]:
                note(state, control[COST], control[STEPS] + taken)
    random[0] = s
    return taken
