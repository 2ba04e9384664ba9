"""Sums over all alignments of a trace with words: one word, the whole trie, or any spelling.

A word's letters (doubled ones merged) are hit one after the other, each in a frame of its own.
Between two hits the finger may dwell on the letter that it has hit, then be in transit to the next.
So every frame is a hit of c, a dwell on c, or a transit from p to c, and a word's mass is

    m(word) = Σ over alignments Π over frames of hit[c, i], dwell[c, i] or transit[p, c, i].

`mass[n, i]` below is the mass of having hit the letters up to node n within the first i frames.
"""

from __future__ import annotations

import math

import numpy as np

from ...._numba import larger, njit, part
from ._arrays import Walk
from ._weights import DOUBLE, PRIOR


@part(error_model="numpy")
def advance(source, hit, dwell, transit, count, arriving, mass):
    """The masses of a node from those of its parent (`source`); all are vectors over frames.

    `arriving[i]` is the mass that may hit the node's letter in frame i.
    """
    moving = 0.0
    mass[0] = 0.0
    for i in range(count):
        arriving[i] = moving + source[i]
        moving = arriving[i] * transit[i]
        mass[i + 1] = arriving[i] * hit[i] + mass[i] * dwell[i]


@part(error_model="numpy")
def retreat(
    hit, dwell, transit, count, arriving, mass, slope, source_slope,
    hit_count, dwell_count, transit_count,
):  # fmt: skip
    """The reverse of `advance`: `slope` is the derivative of the objective by `mass`.

    Adds to `source_slope` and to the counts (derivatives by log-potentials). Changes `slope`.
    """
    moving_slope = 0.0
    for i in range(count - 1, -1, -1):
        through = slope[i + 1]
        arriving_slope = through * hit[i] + moving_slope * transit[i]
        hit_count[i] += through * hit[i] * arriving[i]
        dwell_count[i] += through * dwell[i] * mass[i]
        transit_count[i] += moving_slope * transit[i] * arriving[i]
        slope[i] += through * dwell[i]
        source_slope[i] += arriving_slope
        moving_slope = arriving_slope


@njit(error_model="numpy")
def look_ahead(bigrams, potentials, count, ahead):
    """The mass of every way to go on under the letters' bigram model.

    `bigrams[p, c]` weighs the letter c after p; row K is for the first letter and column K for the
    end. `ahead[p, i]` is the mass of frames i and on, having hit p within the first i frames.
    Returns the mass of all spellings.
    """
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    num_keys = len(hit)
    onward = np.empty((num_keys + 1, num_keys))
    arrive = np.empty(num_keys)
    for p in range(num_keys + 1):
        for c in range(num_keys):
            onward[p, c] = 0.0
    for p in range(num_keys):
        ahead[p, count] = bigrams[p, num_keys]
    for i in range(count - 1, -1, -1):
        for c in range(num_keys):
            arrive[c] = hit[c, i] * ahead[c, i + 1]
        for p in range(num_keys + 1):
            total = 0.0
            for c in range(num_keys):
                onward[p, c] = arrive[c] + transit[p, c, i] * onward[p, c]
                total += bigrams[p, c] * onward[p, c]
            ahead[p, i] = total
            if p < num_keys:
                ahead[p, i] += dwell[p, i] * ahead[p, i + 1]
    return ahead[num_keys, 0]


@part(error_model="numpy")
def walk_arrays(tree, nodes, most):
    """Room for a walk of so many nodes over at most so many frames."""
    return Walk(
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(len(tree.levels) + 1, np.int64),
        np.empty((nodes, most)),
        np.empty((nodes, most + 1)),
    )


@part(error_model="numpy")
def word_score(log_mass, weights, tree, word):
    """log m(word) and the word's own weight."""
    prior, double = weights[PRIOR], weights[DOUBLE]
    return log_mass + prior * tree.log_frequency[word] + double * tree.doubles[word]


@njit(error_model="numpy")
def walk(tree, prior, ease, potentials, ahead, count, walked):
    """Masses of the trie's nodes, level by level. Returns how many nodes were kept.

    Nodes whose promise (mass × look-ahead × the best word below) falls under `prune` of the best
    promise of their level, times `ease`, are dropped with all below them; with 0 every node is
    kept.
    """
    letter, first_child, best = tree.letter, tree.first_child, tree.best
    prune, prune_deep = tree.prune * ease, tree.prune_deep * ease
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    node_of, source_of, level_start = walked.node_of, walked.source_of, walked.level_start
    arriving, mass = walked.arriving, walked.mass
    num_keys = len(hit)
    node_of[0] = 0
    source_of[0] = -1
    for i in range(count + 1):
        mass[0, i] = 0.0
    mass[0, 0] = 1.0
    level_start[0] = 0
    kept = 1
    level_start[1] = 1
    promise = np.empty(len(node_of))
    deepest = len(tree.levels) - 1
    top_ever = 0.0
    depth = 1
    while depth < deepest:
        begin, end = level_start[depth - 1], level_start[depth]
        top = 0.0
        for k in range(begin, end):
            parent = node_of[k]
            previous = letter[parent] if parent > 0 else num_keys
            for node in range(first_child[parent], first_child[parent + 1]):
                c = letter[node]
                advance(
                    mass[k], hit[c], dwell[c], transit[previous, c], count, arriving[kept],
                    mass[kept],
                )  # fmt: skip
                node_of[kept] = node
                source_of[kept] = k
                if prune > 0.0:
                    value = 0.0
                    for i in range(count):
                        value += arriving[kept, i] * hit[c, i] * ahead[c, i + 1]
                    promise[kept] = value * math.exp(prior * best[node])
                    top = larger(top, promise[kept])
                kept += 1
        if prune > 0.0:
            top_ever = larger(top_ever, top)
            floor = larger(prune * top, prune_deep * top_ever)
            alive = level_start[depth]
            for k in range(level_start[depth], kept):
                if promise[k] >= floor and promise[k] > 0.0:
                    if alive != k:
                        node_of[alive] = node_of[k]
                        source_of[alive] = source_of[k]
                        for i in range(count):
                            arriving[alive, i] = arriving[k, i]
                            mass[alive, i + 1] = mass[k, i + 1]
                        mass[alive, 0] = 0.0
                    alive += 1
            kept = alive
        depth += 1
        level_start[depth] = kept
        if level_start[depth] == level_start[depth - 1]:
            break
    for d in range(depth, deepest + 1):
        level_start[d] = kept
    return kept


@njit(error_model="numpy")
def walk_back(letter, potentials, count, kept, walked, slope, counts):
    """Expected counts from `slope[k, count]`, the objective's derivative by each node's mass."""
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    node_of, source_of = walked.node_of, walked.source_of
    arriving, mass = walked.arriving, walked.mass
    num_keys = len(hit)
    for k in range(kept - 1, 0, -1):
        c = letter[node_of[k]]
        source = source_of[k]
        previous = letter[node_of[source]] if source > 0 else num_keys
        retreat(
            hit[c], dwell[c], transit[previous, c], count, arriving[k], mass[k], slope[k],
            slope[source], counts.hit[c], counts.dwell[c], counts.transit[previous, c],
        )  # fmt: skip


@njit(error_model="numpy")
def follow(keys, potentials, count, arriving, mass):
    """The mass of one word, given by its merged keys."""
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    num_keys = len(hit)
    for i in range(count + 1):
        mass[0, i] = 0.0
    mass[0, 0] = 1.0
    previous = num_keys
    for k in range(len(keys)):
        c = keys[k]
        advance(
            mass[k], hit[c], dwell[c], transit[previous, c], count, arriving[k + 1], mass[k + 1]
        )
        previous = c
    return mass[len(keys), count]


@part(error_model="numpy")
def follow_back(keys, potentials, count, arriving, mass, slope, counts):
    """Adds a word's expected counts, scaled by `slope[len(keys), count]`."""
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    num_keys = len(hit)
    for k in range(len(keys) - 1, -1, -1):
        c = keys[k]
        previous = keys[k - 1] if k > 0 else num_keys
        retreat(
            hit[c], dwell[c], transit[previous, c], count, arriving[k + 1], mass[k + 1],
            slope[k + 1], slope[k], counts.hit[c], counts.dwell[c], counts.transit[previous, c],
        )  # fmt: skip


@njit(error_model="numpy")
def align(keys, potentials, count, hits):
    """The frames in which a word's letters are hit in the likeliest of its alignments.

    Returns that alignment's mass; where it is 0, the frames mean nothing.
    """
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    num_keys, size = len(hit), len(keys)
    mass, before = np.empty(count + 1), np.empty(count + 1)
    # Whether the best way keeps dwelling, and whether it keeps moving, by letter and frame.
    dwelt = np.empty((size, count + 1), np.int64)
    moved = np.empty((size, count + 1), np.int64)
    for i in range(count + 1):
        mass[i] = 0.0
    mass[0] = 1.0
    previous = num_keys
    for j in range(size):
        c = keys[j]
        for i in range(count + 1):
            before[i] = mass[i]
        mass[0] = 0.0
        dwelt[j, 0] = 0
        moving = 0.0
        for i in range(count):
            moved[j, i] = moving > before[i]
            arriving = larger(moving, before[i])
            moving = arriving * transit[previous, c, i]
            struck, stayed = arriving * hit[c, i], mass[i] * dwell[c, i]
            dwelt[j, i + 1] = stayed > struck
            mass[i + 1] = larger(struck, stayed)
        previous = c
    i = count
    for j in range(size - 1, -1, -1):
        while i > 1 and dwelt[j, i]:
            i -= 1
        i = larger(i - 1, 0)
        hits[j] = i
        while i > 0 and moved[j, i]:
            i -= 1
    return mass[count]
