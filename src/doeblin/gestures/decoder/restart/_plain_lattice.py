"""Sums over alignments in numpy: as `_lattice.py`, but over all nodes or words at once.

Frames come first, so that a step in time is a few operations on rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats, Ints, Tree
from ._plain_frames import Plain


def plain_look_ahead(bigrams: Floats, plain: Plain) -> Floats:
    """The mass of every way to go on: `ahead[i, p]`; `ahead[0, K]` is that of all spellings."""
    hit, dwell, transit = plain.hit, plain.dwell, plain.transit
    num_keys = hit.shape[1]
    letters = bigrams[:, :num_keys]
    ahead = np.zeros((plain.count + 1, num_keys + 1))
    ahead[-1, :num_keys] = bigrams[:num_keys, num_keys]
    onward = np.zeros((num_keys + 1, num_keys))
    for i in range(plain.count - 1, -1, -1):
        onward *= transit[i]
        onward += hit[i] * ahead[i + 1, :num_keys]
        np.einsum("pc,pc->p", letters, onward, out=ahead[i])
        ahead[i, :num_keys] += dwell[i] * ahead[i + 1, :num_keys]
    return ahead


def _children(first: NDArray[np.int32], nodes: Ints) -> tuple[Ints, Ints]:
    """The children of some nodes, and which of these each is of."""
    begin, sizes = first[nodes].astype(np.int64), np.diff(first)[nodes].astype(np.int64)
    owner = np.repeat(np.arange(len(nodes)), sizes)
    before = np.cumsum(sizes) - sizes
    return begin[owner] + np.arange(len(owner)) - before[owner], owner


def plain_walk(
    tree: Tree, prior: float, ease: float, plain: Plain, ahead: Floats
) -> tuple[Ints, Floats]:
    """The nodes of the trie that are kept, level by level, and the whole trace's mass of each.

    Which nodes are dropped is said at `walk`.
    """
    prune, prune_deep = tree.prune * ease, tree.prune_deep * ease
    hit, dwell, transit, count = plain.hit, plain.dwell, plain.transit, plain.count
    num_keys = hit.shape[1]
    nodes, mass = np.zeros(1, np.int64), np.zeros((count + 1, 1))
    mass[0] = 1.0
    # What a hit in each frame is worth to a node.
    worth = hit * ahead[1:, :num_keys]
    kept, masses = [nodes], [mass[count]]
    top_ever = 0.0
    for _ in range(1, len(tree.levels) - 1):
        previous = np.where(nodes > 0, tree.letter[nodes], num_keys)
        nodes, owner = _children(tree.first_child, nodes)
        if not len(nodes):
            break
        c = tree.letter[nodes]
        source = mass[:, owner]
        hits, dwells, moves = hit[:, c], dwell[:, c], transit[:, previous[owner], c]
        arriving = plain_arrivals(source, moves)
        if prune > 0.0:
            value = np.einsum("in,in->n", arriving, worth[:, c])
            promise = value * np.exp(prior * tree.best[nodes])
            top = float(promise.max())
            top_ever = max(top_ever, top)
            floor = max(prune * top, prune_deep * top_ever)
            alive = np.flatnonzero((promise >= floor) & (promise > 0.0))
            if not len(alive):
                break
            if len(alive) < len(nodes):
                nodes, arriving = nodes[alive], arriving[:, alive]
                hits, dwells = hits[:, alive], dwells[:, alive]
        mass = plain_masses(arriving, hits, dwells)
        kept.append(nodes)
        masses.append(mass[count])
    return np.concatenate(kept), np.concatenate(masses)


def plain_arrivals(source: Floats, transit: Floats) -> Floats:
    """The masses that may hit a letter in each frame, from those of having hit what is before."""
    arriving = np.empty(transit.shape)
    moving = np.zeros(transit.shape[1])
    for now, before, move in zip(arriving, source[:-1], transit, strict=True):
        np.add(moving, before, out=now)
        np.multiply(now, move, out=moving)
    return arriving


def plain_masses(arriving: Floats, hit: Floats, dwell: Floats) -> Floats:
    """The masses of having hit a letter within the first i frames."""
    mass = np.empty((len(hit) + 1, hit.shape[1]))
    mass[0] = 0.0
    np.multiply(arriving, hit, out=mass[1:])
    stayed = np.empty(hit.shape[1])
    for i in range(len(hit)):
        mass[i + 1] += np.multiply(mass[i], dwell[i], out=stayed)
    return mass


def plain_follow(keys: Ints, sizes: Ints, plain: Plain) -> Floats:
    """The masses of words, given by their merged keys: rows, padded with any key."""
    previous = _previous(keys, plain.hit.shape[1])
    count, words = plain.count, len(keys)
    mass, ends = np.zeros((words, keys.shape[1] + 1)), np.arange(words)
    mass[:, 0] = 1.0
    moving = np.zeros(keys.shape)
    for i in range(count):
        arriving = moving + mass[:, :-1]
        moving = arriving * plain.transit[i][previous, keys]
        mass[:, 1:] = arriving * plain.hit[i][keys] + mass[:, 1:] * plain.dwell[i][keys]
        mass[:, 0] = 0.0
    return mass[ends, sizes]


def _previous(keys: Ints, num_keys: int) -> Ints:
    previous = np.empty_like(keys)
    previous[:, 0], previous[:, 1:] = num_keys, keys[:, :-1]
    return previous


def plain_align(keys: Ints, sizes: Ints, plain: Plain, hits: Ints) -> None:
    """Fills `hits` with the frames in which each word's letters are hit in its best alignment.

    All letters of all words go through the frames together: a letter's mass after a frame needs
    only those before it.
    """
    words, longest = keys.shape
    previous = _previous(keys, plain.hit.shape[1])
    mass, moving = np.zeros((words, longest + 1)), np.zeros(keys.shape)
    mass[:, 0] = 1.0
    dwelt = np.zeros((plain.count + 1, words, longest), bool)
    moved = np.zeros((plain.count, words, longest), bool)
    for i in range(plain.count):
        before = mass[:, :-1]
        np.greater(moving, before, out=moved[i])
        arriving = np.maximum(moving, before)
        moving = arriving * plain.transit[i][previous, keys]
        struck, stayed = arriving * plain.hit[i][keys], mass[:, 1:] * plain.dwell[i][keys]
        np.greater(stayed, struck, out=dwelt[i + 1])
        mass = np.concatenate([np.zeros((words, 1)), np.maximum(struck, stayed)], axis=1)
    for word in range(words):
        i, stays, moves = plain.count, dwelt[:, word].tolist(), moved[:, word].tolist()
        for j in range(int(sizes[word]) - 1, -1, -1):
            while i > 1 and stays[i][j]:
                i -= 1
            i = max(i - 1, 0)
            hits[word, j] = i
            while i > 0 and moves[i][j]:
                i -= 1
