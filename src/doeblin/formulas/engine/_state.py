"""What the compiled steps of the search share; the tests say the same slowly and plainly.

A formula of n disjuncts with m atoms each is `codes[i * m + j]`, numbers of atoms in the pool. All
truth values over the examples are words: first the labelled examples, then the sources of the
implications, then their targets. Bits without an example are zero in every atom and in the labels,
so they never cost anything.

Kernels are specialised on the number of words only through `width`, a tuple with one element for
each word of labelled examples; the empty tuple leaves it open at run time.

Arrays come in tuples with names (`Arrays`, `Stages`, `State`, `Room`). What a method does not use
is None; as an argument of its own, where a branch asks for it, since numba leaves out a branch on
an argument that is None, but not one on a field.
"""

from __future__ import annotations

import math

import numpy as np

from ._control import BEST, TOURS, TRACED
from ._words import kernel, unit, weighed

ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
S11, S32 = np.uint64(11), np.uint64(32)
ZERO, ONE = np.uint64(0), np.uint64(1)
NOBODY = np.int64(-1)


@kernel()
def sojourn(number, exit_rate):
    """A Geometric(exit_rate) number of steps, at least one; endless when nothing exits."""
    if exit_rate <= 0.0:
        return np.int64(1) << 62
    if exit_rate >= 1.0:
        return np.int64(1)
    return np.int64(1) + np.int64(math.log(1.0 - unit(number)) / math.log1p(-exit_rate))


@kernel()
def drawn(number, cumulative):
    """The first index whose cumulative weight exceeds a uniform share of the total."""
    total = cumulative[len(cumulative) - 1]
    share = np.uint64(unit(number) * float(total))
    if share >= total:
        share = total - ONE
    low, high = 0, len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > share:
            high = middle
        else:
            low = middle + 1
    return low


@kernel()
def load(rows, columns, c, q, atoms):
    if rows is not None:
        for w in range(atoms.shape[1]):
            atoms[q, w] = rows[c, w]
    elif columns is not None:
        for w in range(atoms.shape[1]):
            atoms[q, w] = columns[w, c]


@kernel()
def conjoin(atoms, i, m, disjuncts):
    for w in range(atoms.shape[1]):
        word = ONES
        for j in range(m):
            word &= atoms[i * m + j, w]
        disjuncts[i, w] = word


# Rows are indexed in place: a view of a row would count references at every step. One word is best
# kept in a register; for more, the inner loop runs over the words, `len(width)` of which are known
# when compiling and become a few vector instructions.


@kernel()
def set_others(atoms, i, skip, m, others, width):
    """For every atom of disjunct i but `skip`: the conjunction of the other atoms."""
    for q in range(i * m, i * m + m):
        if q == skip:
            continue
        if len(width) == 1 and atoms.shape[1] == 1:
            word = ONES
            for e in range(i * m, i * m + m):
                if e != q:
                    word &= atoms[e, 0]
            others[q, 0] = word
            continue
        for w in range(len(width)):
            others[q, w] = ONES
        for w in range(len(width), atoms.shape[1]):
            others[q, w] = ONES
        for e in range(i * m, i * m + m):
            if e != q:
                for w in range(len(width)):
                    others[q, w] &= atoms[e, w]
                for w in range(len(width), atoms.shape[1]):
                    others[q, w] &= atoms[e, w]


@kernel()
def set_rest(disjuncts, skip, rest, width):
    """For every disjunct but `skip`: the disjunction of the other disjuncts."""
    n = disjuncts.shape[0]
    for i in range(n):
        if i == skip:
            continue
        if len(width) == 1 and disjuncts.shape[1] == 1:
            word = ZERO
            for e in range(n):
                if e != i:
                    word |= disjuncts[e, 0]
            rest[i, 0] = word
            continue
        for w in range(len(width)):
            rest[i, w] = ZERO
        for w in range(len(width), disjuncts.shape[1]):
            rest[i, w] = ZERO
        for e in range(n):
            if e != i:
                for w in range(len(width)):
                    rest[i, w] |= disjuncts[e, w]
                for w in range(len(width), disjuncts.shape[1]):
                    rest[i, w] |= disjuncts[e, w]


@kernel(inline="always")
def place(rows, c, others, q, atoms, disjuncts, i, width):
    """Puts atom c of the pool in place q of disjunct i."""
    for w in range(len(width)):
        atoms[q, w] = rows[c, w]
        disjuncts[i, w] = rows[c, w] & others[q, w]
    for w in range(len(width), atoms.shape[1]):
        atoms[q, w] = rows[c, w]
        disjuncts[i, w] = rows[c, w] & others[q, w]


@kernel()
def full_cost(disjuncts, labels, shifts, pairs):
    n = disjuncts.shape[0]
    labelled = len(labels)
    cost = 0
    for w in range(labelled + pairs):
        word = ZERO
        for i in range(n):
            word |= disjuncts[i, w]
        if w < labelled:
            cost += weighed(word ^ labels[w], shifts, w)
        else:
            target = ZERO
            for i in range(n):
                target |= disjuncts[i, w + pairs]
            cost += weighed(word & ~target, shifts, w)
    return cost


@kernel()
def disjunct_cost(disjuncts, i, labels, shifts, false_positive, false_negative):
    """The simplified cost of disjunct i, less the constant for the positive examples."""
    cost = 0
    for w in range(len(labels)):
        word = disjuncts[i, w]
        cost += false_positive * weighed(word & ~labels[w], shifts, w)
        cost -= false_negative * weighed(word & labels[w], shifts, w)
    return cost


@kernel()
def note(state, cost, steps):
    """Remember the best formula so far, and when it was found."""
    control, trace = state.control, state.trace
    control[BEST] = cost
    for q in range(len(state.codes)):
        state.best[q] = state.codes[q]
    if control[TRACED] < len(trace):
        trace[control[TRACED], 0] = steps
        trace[control[TRACED], 1] = cost
        trace[control[TRACED], 2] = control[TOURS]
        control[TRACED] += 1
