"""Compiled weighing of all atoms of a pool at once, and the draw of one of them.

`errors` has a row for each example that a formula may err on, with a bit for each atom of the pool:
set where the atom would err. The costs of all atoms are the sums of some rows, added up bit by bit
as columns of binary numbers: plane p holds bit p of every atom's cost. A carry-save adder takes a
few instructions for 256 atoms and an example, and the atoms of least cost fall out of the planes
from the top down.

All arrays are flat; `width` is the number of words in a row, a multiple of `LANES`.
"""

from __future__ import annotations

import numpy as np

from ..._numba import smaller
from ._lanes import (
    LANES,
    filled,
    get,
    lanes_and,
    lanes_and_not,
    lanes_not,
    lanes_or,
    lanes_xor,
    load_lanes,
    majority,
    no_lanes,
    put,
    some,
    store_lanes,
)
from ._rows import BATCH
from ._state import ONE, ZERO
from ._words import kernel, popcount, trailing_zeros, unit


@kernel(inline="always")
def binary_digits(number):
    digits = 0
    while number >> digits:
        digits += 1
    return digits


@kernel(inline="always")
def listed(word, first, width, rows, count):
    """Appends where the rows of the ones in a word begin to a list; returns its new length."""
    while word != ZERO:
        put(rows, count, (first + np.int64(trailing_zeros(word))) * width)
        count += 1
        word &= word - ONE
    return count


@kernel(inline="always")
def carry_into(planes, place, top, width, carry):
    """Adds bits to plane `place // width` and on; `top` is where planes end."""
    while place < top:
        old = load_lanes(planes, place)
        store_lanes(planes, place, lanes_xor(old, carry))
        carry = lanes_and(old, carry)
        place += width


@kernel()
def add_rows(errors, width, rows, count, low, planes, before, after):
    """Adds `2**low` times each of the `count` rows to the planes.

    There are `before` planes so far and `after` then. `rows` is as long as a whole number of
    batches; the last row of `errors`, which is empty, fills it up.
    """
    empty = len(errors) - width
    while count % BATCH:
        put(rows, count, empty)
        count += 1
    for v in range(before * width, after * width, LANES):
        store_lanes(planes, v, no_lanes())
    top = after * width
    for v in range(0, width, LANES):
        ones, twos, fours = no_lanes(), no_lanes(), no_lanes()
        for k in range(0, count, BATCH):
            # Harley and Seal's tree of full adders: eight bits in, one bit of weight eight out.
            a = load_lanes(errors, get(rows, k) + v)
            b = load_lanes(errors, get(rows, k + 1) + v)
            c = load_lanes(errors, get(rows, k + 2) + v)
            d = load_lanes(errors, get(rows, k + 3) + v)
            two_a = majority(ones, a, b)
            ones = lanes_xor(ones, lanes_xor(a, b))
            two_b = majority(ones, c, d)
            ones = lanes_xor(ones, lanes_xor(c, d))
            four_a = majority(twos, two_a, two_b)
            twos = lanes_xor(twos, lanes_xor(two_a, two_b))
            a = load_lanes(errors, get(rows, k + 4) + v)
            b = load_lanes(errors, get(rows, k + 5) + v)
            c = load_lanes(errors, get(rows, k + 6) + v)
            d = load_lanes(errors, get(rows, k + 7) + v)
            two_a = majority(ones, a, b)
            ones = lanes_xor(ones, lanes_xor(a, b))
            two_b = majority(ones, c, d)
            ones = lanes_xor(ones, lanes_xor(c, d))
            four_b = majority(twos, two_a, two_b)
            twos = lanes_xor(twos, lanes_xor(two_a, two_b))
            eights = majority(fours, four_a, four_b)
            fours = lanes_xor(fours, lanes_xor(four_a, four_b))
            carry_into(planes, (low + 3) * width + v, top, width, eights)
        carry_into(planes, low * width + v, top, width, ones)
        carry_into(planes, (low + 1) * width + v, top, width, twos)
        carry_into(planes, (low + 2) * width + v, top, width, fours)


@kernel()
def least_cost(planes, num_planes, width, allowed, chosen):
    """The least cost of the allowed atoms, which are `chosen`; -1 if none is allowed."""
    found = False
    for v in range(0, width, LANES):
        bits = load_lanes(allowed, v)
        store_lanes(chosen, v, bits)
        found |= some(bits)
    if not found:
        return -1
    least = 0
    for p in range(num_planes - 1, -1, -1):
        found = False
        for v in range(0, width, LANES):
            found |= some(lanes_and_not(load_lanes(chosen, v), load_lanes(planes, p * width + v)))
        if found:
            for v in range(0, width, LANES):
                bits = lanes_and_not(load_lanes(chosen, v), load_lanes(planes, p * width + v))
                store_lanes(chosen, v, bits)
        else:
            least += 1 << p
    return least


@kernel()
def keep_near(planes, num_planes, width, least, digits, allowed):
    """Takes `least` off all costs, and allows only those below `2**digits` from then on."""
    for v in range(0, width, LANES):
        borrow = no_lanes()
        far = no_lanes()
        for p in range(num_planes):
            plane = load_lanes(planes, p * width + v)
            digit = filled(-((least >> p) & 1))
            difference = lanes_xor(lanes_xor(plane, digit), borrow)
            borrow = majority(lanes_not(plane), digit, borrow)
            if p < digits:
                store_lanes(planes, p * width + v, difference)
            else:
                far = lanes_or(far, difference)
        store_lanes(allowed, v, lanes_and_not(load_lanes(allowed, v), far))


@kernel()
def costing(planes, digits, width, allowed, cost, chosen):
    """Chooses the allowed atoms of this cost."""
    for v in range(0, width, LANES):
        bits = load_lanes(allowed, v)
        for p in range(digits):
            other = filled(-((cost >> p) & 1))
            bits = lanes_and_not(bits, lanes_xor(load_lanes(planes, p * width + v), other))
        store_lanes(chosen, v, bits)


@kernel()
def prior_of(chosen, width, prior):
    """The prior weight of the chosen atoms. A single entry of `prior` stands for all atoms."""
    total = ZERO
    if len(prior) == 1:
        for v in range(width):
            total += popcount(get(chosen, v))
        return total * np.uint64(prior[0])
    for v in range(width):
        word = get(chosen, v)
        while word != ZERO:
            total += np.uint64(get(prior, 64 * v + np.int64(trailing_zeros(word))))
            word &= word - ONE
    return total


@kernel()
def pick(chosen, prior, share):
    """The chosen atom at which the running sum of prior weights first exceeds `share`."""
    v = 0
    if len(prior) == 1:
        left = share // np.uint64(prior[0])
        while popcount(get(chosen, v)) <= left:
            left -= popcount(get(chosen, v))
            v += 1
        word = get(chosen, v)
        for _ in range(left):
            word &= word - ONE
        return 64 * v + np.int64(trailing_zeros(word))
    while True:
        word = get(chosen, v)
        while word != ZERO:
            c = 64 * v + np.int64(trailing_zeros(word))
            weight = np.uint64(get(prior, c))
            if weight > share:
                return c
            share -= weight
            word &= word - ONE
        v += 1


@kernel()
def heat_bath(number, planes, num_planes, width, allowed, prior, heat, chosen, totals):
    """Draws an atom with weight prior · heat[cost - least cost], or -1 when none is allowed.

    Better atoms come first in the order that `number` is a share of. Weights are integers, so that
    sums are exact; the last entry of `heat` is zero. `chosen` and `totals` are scratch space.
    """
    least = least_cost(planes, num_planes, width, allowed, chosen)
    if least < 0:
        return -1
    levels = smaller(len(heat) - 1, (1 << num_planes) - least)
    totals[0] = prior_of(chosen, width, prior) * np.uint64(heat[0])
    total = totals[0]
    digits = 0
    if levels > 1:
        digits = smaller(num_planes, binary_digits(levels - 1))
        keep_near(planes, num_planes, width, least, digits, allowed)
        for level in range(1, levels):
            costing(planes, digits, width, allowed, level, chosen)
            totals[level] = prior_of(chosen, width, prior) * np.uint64(heat[level])
            total += totals[level]
    share = np.uint64(unit(number) * float(total))
    if share >= total:
        share = total - ONE
    level = 0
    while totals[level] <= share:
        share -= totals[level]
        level += 1
    if levels > 1:
        costing(planes, digits, width, allowed, level, chosen)
    return pick(chosen, prior, share // np.uint64(heat[level]))
