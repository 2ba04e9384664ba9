"""One pass of training: Doeblin chains by likelihood, or Gibbs by the approximate gradient."""

from __future__ import annotations

import math

import numpy as np

from ..decoder._numba import njit
from ._features import adagrad, add_features, edit_distance, reward, spell
from ._kernels import add_score, block_step, conditional, prefix_sums
from ._restart import backward, draw_suffix, expect, forward, potentials

# A tour is cut off at this many times its mean length.
LONGEST_TOUR = 10


@njit
def seed(number):
    """Seeds the compiled random numbers."""
    np.random.seed(number)


@njit
def tour_length(epsilon, most):
    """Transitions until the next restart: geometric, from 0."""
    steps = 0
    while steps < most and np.random.random() >= epsilon:
        steps += 1
    return steps


@njit
def reward_of(num_keys, z, length, y, size, letters):
    found = spell(num_keys, z, length, letters)
    return reward(edit_distance(y, size, letters, found))


@njit
def doeblin_pass(
    num_keys, xs, x_sizes, ys, y_sizes, order, hard, child, word, frequency,
    restart, full, restart_squares, full_squares, frozen,
    mean_length, chains, proposals, train_restart, baseline, step_size, delta,
):  # fmt: skip
    """Algorithm 1 with edit-distance weights: ∇ log E_π̃[reward] by tours of the Doeblin chain.

    Every state of a tour is a draw from π̃, and every transition is responsible for all states
    that follow it. `proposals` > 0 uses the block kernel with proposals from u at the `frozen`
    weights, else single-site Gibbs. `baseline` subtracts the mean reward of the other tours, which
    changes no expectation. Returns the mean log-reward, the rate of right words, the transitions.
    """
    labels, longest = 2 * num_keys + 1, xs.shape[1]
    epsilon, most = 1.0 / (mean_length + 1.0), LONGEST_TOUR * max(mean_length, 1)
    unary, step = np.zeros((longest, labels)), np.zeros((longest, labels, labels))
    behind = np.zeros((longest, labels))
    q_unary, q_step = np.zeros((longest, labels)), np.zeros((longest, labels, labels))
    q_behind, q_before = np.zeros((longest, labels)), np.zeros((longest, labels))
    g0, f0 = np.zeros(len(full)), np.zeros(len(full), np.uint8)
    g1, f1 = np.zeros(len(full)), np.zeros(len(full), np.uint8)
    t0, t1 = np.zeros(len(full) + 1, np.int64), np.zeros(len(full) + 1, np.int64)
    sums = np.zeros(longest + 1)
    z, letters, scratch = np.zeros(longest, np.int64), np.zeros(longest, np.int64), np.zeros(labels)
    chances = np.zeros(max(labels, proposals + 1))
    depth, ends = np.zeros(num_keys + 1, np.int64), np.zeros(num_keys + 1, np.int64)
    around = np.zeros(3, np.int64)
    lengths = np.zeros(chains, np.int64)
    first = np.zeros((chains, longest), np.int64)
    rewards = np.zeros((chains, most + 2))
    sites, choices = np.zeros((chains, most + 1), np.int64), np.zeros((chains, most + 1), np.int64)
    slots = most + 1 if proposals > 0 else 1
    versions = np.zeros((chains, slots, proposals + 1, longest), np.int64)
    picks = np.zeros((chains, slots, proposals + 1))
    log_reward, right, transitions = 0.0, 0.0, 0
    for e in order:
        x, length, y, size = xs[e], x_sizes[e], ys[e], y_sizes[e]
        prefix_sums(num_keys, full, sums)
        last = potentials(num_keys, x, length, restart, hard, unary, step)
        backward(num_keys, length, last, unary, step, behind)
        if proposals > 0:
            potentials(num_keys, x, length, frozen, hard, q_unary, q_step)
            backward(num_keys, length, last, q_unary, q_step, q_behind)
            forward(length, last, q_unary, q_step, q_before)
        total, states = 0.0, 0
        for c in range(chains):
            draw_suffix(0, length, last, unary, step, behind, z, scratch)
            first[c] = z
            lengths[c] = tour_length(epsilon, most) if mean_length > 0 else 0
            rewards[c, 0] = reward_of(num_keys, z, length, y, size, letters)
            for t in range(1, lengths[c] + 1):
                if proposals > 0:
                    choices[c, t] = block_step(
                        num_keys, x, length, last, child, word, frequency, frozen, full,
                        q_unary, q_step, q_before, q_behind, z, versions[c, t], picks[c, t],
                        scratch,
                    )  # fmt: skip
                else:
                    sites[c, t] = np.random.randint(length)
                    conditional(
                        num_keys, x, length, z, sites[c, t], hard, child, word, frequency, full,
                        sums, chances, depth, ends, around,
                    )  # fmt: skip
                    choices[c, t] = draw(chances, labels)
                    z[sites[c, t]] = choices[c, t]
                rewards[c, t] = reward_of(num_keys, z, length, y, size, letters)
            right += (rewards[c, lengths[c]] == 1.0) / chains
            for t in range(lengths[c] + 1):
                total += rewards[c, t]
            states += lengths[c] + 1
            transitions += lengths[c]
        log_reward += math.log(total / states)
        restarted = 0.0
        for c in range(chains):
            own = 0.0
            for t in range(lengths[c] + 1):
                own += rewards[c, t]
            others = states - lengths[c] - 1
            base = (total - own) / others if baseline and others > 0 else 0.0
            # What follows a transition, itself included.
            for t in range(lengths[c], -1, -1):
                rewards[c, t] += rewards[c, t + 1] - base if t < lengths[c] else -base
            z[:] = first[c]
            for t in range(1, lengths[c] + 1):
                amount = rewards[c, t] / total
                if proposals > 0:
                    for k in range(proposals + 1):
                        share = (1.0 if k == choices[c, t] else 0.0) - picks[c, t, k]
                        if abs(share) > 1e-3:
                            add_features(
                                num_keys, x, length, versions[c, t, k], child, word, frequency,
                                True, amount * share, g1, f1, t1,
                            )  # fmt: skip
                else:
                    conditional(
                        num_keys, x, length, z, sites[c, t], hard, child, word, frequency, full,
                        sums, chances, depth, ends, around,
                    )  # fmt: skip
                    add_score(
                        num_keys, x, length, z, sites[c, t], choices[c, t], frequency, chances,
                        depth, ends, around, amount, g1, f1, t1,
                    )  # fmt: skip
                    z[sites[c, t]] = choices[c, t]
            if train_restart:
                amount = rewards[c, 0] / total
                add_features(
                    num_keys, x, length, first[c], child, word, frequency, False, amount,
                    g0, f0, t0,
                )  # fmt: skip
                restarted += amount
        if train_restart:
            expect(num_keys, x, length, last, unary, step, behind, -restarted, g0, f0, t0)
            adagrad(restart, restart_squares, g0, f0, t0, step_size, delta)
        adagrad(full, full_squares, g1, f1, t1, step_size, delta)
    return log_reward / len(order), right / len(order), transitions


@njit
def draw(chances, size):
    """An index drawn from probabilities that add up to one."""
    left = np.random.random()
    chosen = 0
    for v in range(size):
        if chances[v] > 0.0:
            chosen = v
            left -= chances[v]
            if left < 0.0:
                break
    return chosen


@njit
def gibbs_pass(
    num_keys, xs, x_sizes, ys, y_sizes, order, hard, child, word, frequency,
    restart, full, full_squares, from_restart, transitions, chains, step_size, delta,
):  # fmt: skip
    """The approximate gradient: reweighted minus plain features of samples after burn-in.

    Chains start from u, or else from z_i = x_i, and take `transitions` Gibbs steps.
    """
    labels, longest = 2 * num_keys + 1, xs.shape[1]
    unary, step = np.zeros((longest, labels)), np.zeros((longest, labels, labels))
    behind = np.zeros((longest, labels))
    gradient, flags = np.zeros(len(full)), np.zeros(len(full), np.uint8)
    touched = np.zeros(len(full) + 1, np.int64)
    sums, scratch, chances = np.zeros(longest + 1), np.zeros(labels), np.zeros(labels)
    z, letters = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
    depth, ends = np.zeros(num_keys + 1, np.int64), np.zeros(num_keys + 1, np.int64)
    around = np.zeros(3, np.int64)
    burn = transitions // 2
    kept = transitions - burn
    states = np.zeros((chains, kept, longest), np.int64)
    rewards = np.zeros((chains, kept))
    right, log_reward = 0.0, 0.0
    for e in order:
        x, length, y, size = xs[e], x_sizes[e], ys[e], y_sizes[e]
        prefix_sums(num_keys, full, sums)
        last = labels
        if from_restart:
            last = potentials(num_keys, x, length, restart, hard, unary, step)
            backward(num_keys, length, last, unary, step, behind)
        for c in range(chains):
            if from_restart:
                draw_suffix(0, length, last, unary, step, behind, z, scratch)
            else:
                for i in range(length):
                    z[i] = x[i] + 1
            for t in range(1, transitions + 1):
                site = np.random.randint(length)
                conditional(
                    num_keys, x, length, z, site, hard, child, word, frequency, full, sums,
                    chances, depth, ends, around,
                )  # fmt: skip
                z[site] = draw(chances, labels)
                if t > burn:
                    states[c, t - burn - 1] = z
                    rewards[c, t - burn - 1] = reward_of(num_keys, z, length, y, size, letters)
        total = rewards.sum()
        right += (rewards == 1.0).sum() / (chains * kept)
        log_reward += math.log(total / (chains * kept))
        for c in range(chains):
            amount = 0.0
            for t in range(kept):
                amount += rewards[c, t] / total - 1.0 / (chains * kept)
                # Runs of one state are added at once.
                same = t + 1 < kept
                if same:
                    for i in range(length):
                        if states[c, t, i] != states[c, t + 1, i]:
                            same = False
                            break
                if not same:
                    add_features(
                        num_keys, x, length, states[c, t], child, word, frequency, True, amount,
                        gradient, flags, touched,
                    )  # fmt: skip
                    amount = 0.0
        adagrad(full, full_squares, gradient, flags, touched, step_size, delta)
    return log_reward / len(order), right / len(order), len(order) * chains * transitions
