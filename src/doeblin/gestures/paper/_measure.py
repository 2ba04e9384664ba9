"""Accuracy of chains on held-out gestures, and of decoders that use no chain."""

from __future__ import annotations

import math

import numpy as np

from ..._numba import NO, NOUGHT, YES, kept
from ._features import edit_distance, spell
from ._kernels import make_record, move, prefix_sums
from ._passes import LONGEST_TOUR, tour_length
from ._restart import backward, draw_suffix, fill_field, lattice, make_field, potentials

WORD, CHARACTER, COMMONEST, FINAL = 0, 1, 2, 3


@kept(about=5)
def measure(model, gestures, weights, plan):
    """Word and character accuracy over samples after burn-in, of the commonest, of the last.

    The first half of a chain is burn-in. Returns accuracies for each gesture.
    """
    num_keys, hard, count = model.num_keys, model.hard, len(gestures.x_sizes)
    transitions, chains, longest = plan.transitions, plan.chains, gestures.xs.shape[1]
    field, proposal = make_field(num_keys, longest), make_field(num_keys, longest)
    record = make_record(num_keys, longest, 1, 1, plan.proposals)
    sums = np.zeros(longest + 1)
    z, letters = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
    most = chains * (LONGEST_TOUR * max(transitions, 1) + 1)
    codes, counts = np.zeros(most, np.uint64), np.zeros(most, np.int64)
    hits = np.zeros(most, np.int64)
    out = np.zeros((count, 4))
    prefix_sums(num_keys, weights.full, sums)
    for e in range(count):
        length, size = gestures.x_sizes[e], gestures.y_sizes[e]
        x, y = gestures.xs[e, :length], gestures.ys[e, :size]
        fill_field(field, num_keys, x, length, weights.restart, hard, NO)
        if plan.proposals > 0:
            fill_field(proposal, num_keys, x, length, weights.frozen, hard, YES)
        distinct, samples = 0, 0
        for _ in range(chains):
            if plan.from_restart:
                draw_suffix(field, num_keys, NOUGHT, length, z)
            else:
                for i in range(length):
                    z[i] = x[i] + 1
            total = transitions
            if plan.geometric:
                total = tour_length(1.0 / (transitions + 1.0), LONGEST_TOUR * transitions)
            for t in range(total + 1):
                if t > 0:
                    move(record, (0, 0), model, proposal, x, weights, sums, z)
                if t < total - total // 2 and total > 0:
                    continue
                found = spell(num_keys, z, length, letters)
                distance = edit_distance(y, letters[:found])
                samples += 1
                out[e, WORD] += distance == 0
                out[e, CHARACTER] += 1.0 - distance / max(size, found)
                code = np.uint64(14695981039346656037)
                for k in range(found):
                    code = (code ^ np.uint64(letters[k] + 1)) * np.uint64(1099511628211)
                at = 0
                while at < distinct and codes[at] != code:
                    at += 1
                if at == distinct:
                    codes[at], counts[at], hits[at] = code, 0, distance == 0
                    distinct += 1
                counts[at] += 1
                if t == total:
                    out[e, FINAL] += (distance == 0) / chains
        out[e, WORD] /= samples
        out[e, CHARACTER] /= samples
        out[e, COMMONEST] = hits[np.argmax(counts[:distinct])]
    return out


@kept(about=5)
def rerank(model, gestures, restart, draws, power):
    """Independent draws from u; of the dictionary words among them, that of the largest
    u(word | x) · frequency^power. Returns whether it was right, for each gesture."""
    num_keys, hard, word = model.num_keys, model.hard, model.word
    longest, count = gestures.xs.shape[1], len(gestures.x_sizes)
    field = make_field(num_keys, longest)
    z, letters = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
    lattice_sums = np.zeros((longest, longest + 1, 3))
    seen = np.full(len(model.log_frequency), -1)
    out = np.zeros(count)
    for e in range(count):
        x, length = gestures.xs[e], gestures.x_sizes[e]
        fill_field(field, num_keys, x, length, restart, hard, NO)
        unary, step = field.unary, field.step
        best = -np.inf
        for _ in range(draws):
            draw_suffix(field, num_keys, NOUGHT, length, z)
            size = spell(num_keys, z, length, letters)
            node = 0
            for k in range(size):
                node = model.child[node, letters[k]]
                if node < 0:
                    break
            if node < 0 or word[node] < 0 or seen[word[node]] == e:
                continue
            seen[word[node]] = e
            value = lattice(num_keys, letters, size, length, hard, unary, step, lattice_sums)
            value += power * model.log_frequency[word[node]]
            if value > best:
                best = value
                out[e] = edit_distance(gestures.ys[e, : gestures.y_sizes[e]], letters[:size]) == 0
    return out


@kept(about=5)
def exact(model, gestures, targets, restart, powers):
    """The trie decoder: the word of the largest u(word | x) · frequency^power in the dictionary,
    summed exactly over alignments. Returns hits for each gesture and power."""
    num_keys, hard, child, word = model.num_keys, model.hard, model.child, model.word
    labels, longest, count = 2 * num_keys + 1, gestures.xs.shape[1], len(gestures.x_sizes)
    unary, step = np.zeros((longest, labels)), np.zeros((longest, labels, labels))
    behind = np.zeros((longest, labels))
    sums = np.zeros((len(child), longest, 3))
    out = np.zeros((count, len(powers)))
    best = np.zeros(len(powers))
    for e in range(count):
        x, length = gestures.xs[e], gestures.x_sizes[e]
        last = potentials(num_keys, x, length, restart, hard, unary, step)
        log_partition = backward(num_keys, length, last, unary, step, behind)
        # Dividing each place by the partition's geometric mean keeps the sums within range.
        scale = math.exp(-log_partition / length)
        best[:] = -np.inf
        for i in range(length):
            before = step[0, 0, 0] if i == 0 else sums[0, i - 1, 0] * step[i, 0, 0]
            sums[0, i, 0] = before * unary[i, 0] * scale
        for parent in range(len(child)):
            # Nodes are numbered before their children.
            p = model.letter[parent] + 1
            for c in range(num_keys):
                node = child[parent, c]
                if node < 0:
                    continue
                v, on = c + 1, c + 1 + num_keys
                sums[node, 0, 0], sums[node, 0, 2] = 0.0, 0.0
                sums[node, 0, 1] = step[0, 0, v] * unary[0, v] * scale if parent == 0 else 0.0
                for i in range(1, length):
                    past, here = sums[parent, i - 1], sums[node, i - 1]
                    none = here[0] * step[i, 0, 0] + here[1] * step[i, v, 0]
                    begin, more = past[0] * step[i, 0, v], 0.0
                    if parent > 0:
                        begin += past[1] * step[i, p, v]
                    if hard:
                        none += here[2] * step[i, on, 0]
                        more = here[1] * step[i, v, on] + here[2] * step[i, on, on]
                        if parent > 0:
                            begin += past[2] * step[i, p + num_keys, v]
                    sums[node, i, 0] = none * unary[i, 0] * scale
                    sums[node, i, 1] = begin * unary[i, v] * scale
                    sums[node, i, 2] = more * unary[i, on] * scale if hard else 0.0
                mass = sums[node, length - 1].sum()
                if word[node] >= 0 and mass > 1e-290:
                    for k in range(len(powers)):
                        value = math.log(mass) + powers[k] * model.log_frequency[word[node]]
                        if value > best[k]:
                            best[k] = value
                            out[e, k] = word[node] == targets[e]
    return out
