"""Compiled Metropolis-Hastings steps: edit one atom, accept or reject."""

from __future__ import annotations

import numpy as np

from ..._numba import NOUGHT
from ._bits import GAMMA
from ._control import BEST, COST, STEPS
from ._state import LOW, S32, disjunct_cost, note, place, set_others, set_rest
from ._words import below, kernel, mix, weighed


@kernel(inline="always")
def proposal(first, second, present, neighbours, num_atoms, single):
    """Another atom: one entry changed with probability `single`, all entries otherwise."""
    # Both are looked up and one is selected: cheaper than a branch guessed wrong.
    c = below(second >> S32, num_atoms)
    edited = np.int64(neighbours[present, below(second >> S32, neighbours.shape[1])])
    if (first >> S32) < single:
        c = edited
    return c


@kernel()
def metropolis_full(task, stages, stage, state, room, neighbours, count):
    """At most `count` Metropolis steps under the full cost; returns the steps taken."""
    rows, labels, shifts, width, pairs = task.rows, task.labels, task.shifts, task.width, task.pairs
    codes, atoms, disjuncts, control = state.codes, state.atoms, state.disjuncts, state.control
    others, rest, random = room.others, room.rest, state.random
    single, accept = stages.chances[stage, 0], stages.accept[stage, : stages.accept_size[stage]]
    labelled = len(width) if len(width) > 0 else len(labels)
    num_atoms, m = len(rows), len(codes) // len(disjuncts)
    disjunct_of = room.numbers[: len(codes)]
    for q in range(len(codes)):
        disjunct_of[q] = q // m
    s = random[0]
    cost = control[COST]
    taken = 0
    while cost > 0 and taken < count:
        taken += 1
        first = mix(s + GAMMA)
        s += GAMMA + GAMMA
        second = mix(s)
        q = below(second & LOW, len(codes))
        i = disjunct_of[q]
        c = proposal(first, second, codes[q], neighbours, num_atoms, single)
        new = NOUGHT
        for w in range(labelled):
            new += weighed(((rows[c, w] & others[q, w]) | rest[i, w]) ^ labels[w], shifts, w)
        for w in range(labelled, labelled + pairs):
            source = (rows[c, w] & others[q, w]) | rest[i, w]
            target = (rows[c, w + pairs] & others[q, w + pairs]) | rest[i, w + pairs]
            new += weighed(source & ~target, shifts, w)
        worse = new - cost
        if worse <= 0 or (worse < len(accept) and (first & LOW) < accept[worse]):
            cost = new
            codes[q] = c
            place(rows, c, others, q, atoms, disjuncts, i, width)
            set_others(atoms, i, q, m, others, width)
            set_rest(disjuncts, i, rest, width)
            if cost < control[BEST]:
                note(state, cost, control[STEPS] + taken)
    random[0] = s
    control[COST] = cost
    return taken


@kernel()
def metropolis_simplified(task, stages, stage, state, room, neighbours, penalties, count):
    """`count` Metropolis steps under the simplified cost."""
    wrong_costs, right_costs = penalties[stage, 0], penalties[stage, 1]
    rows, labels, shifts, width = task.rows, task.labels, task.shifts, task.width
    codes, atoms, disjuncts = state.codes, state.atoms, state.disjuncts
    others, numbers, random = room.others, room.numbers, state.random
    single, accept = stages.chances[stage, 0], stages.accept[stage, : stages.accept_size[stage]]
    labelled = len(width) if len(width) > 0 else len(labels)
    num_atoms, m = len(rows), len(codes) // len(disjuncts)
    disjunct_of = numbers[: len(codes)]
    for q in range(len(codes)):
        disjunct_of[q] = q // m
    costs = numbers[len(codes) : len(codes) + len(disjuncts)]
    for i in range(len(disjuncts)):
        costs[i] = disjunct_cost(disjuncts, i, labels, shifts, wrong_costs, right_costs)
    s = random[0]
    for _ in range(count):
        first = mix(s + GAMMA)
        s += GAMMA + GAMMA
        second = mix(s)
        q = below(second & LOW, len(codes))
        i = disjunct_of[q]
        c = proposal(first, second, codes[q], neighbours, num_atoms, single)
        wrong = 0
        right = 0
        for w in range(labelled):
            word = rows[c, w] & others[q, w]
            wrong += weighed(word & ~labels[w], shifts, w)
            right += weighed(word & labels[w], shifts, w)
        new = wrong_costs * wrong - right_costs * right
        worse = new - costs[i]
        if worse <= 0 or (worse < len(accept) and (first & LOW) < accept[worse]):
            costs[i] = new
            codes[q] = c
            place(rows, c, others, q, atoms, disjuncts, i, width)
            set_others(atoms, i, q, m, others, width)
    random[0] = s
    return count
