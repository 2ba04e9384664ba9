"""One pass of training: Doeblin chains by likelihood, or Gibbs by the approximate gradient."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._numba import NO, NOUGHT, YES, kept, njit
from ._features import adagrad, add_features, copy, edit_distance, lift, make_slopes, reward, spell
from ._kernels import add_move, make_record, move, prefix_sums, replay, same
from ._restart import draw_lattice, draw_suffix, expect, fill_field, lattice, make_field

# A tour is cut off at this many times its mean length.
LONGEST_TOUR = 10


class Plan(NamedTuple):
    """How chains are run: transitions of each (on average, where `geometric`), and how many chains.

    So many chains, `backward`, begin at the true word and walk back in time. `proposals` > 0 is the
    block kernel with proposals from u at the frozen weights, else it is single-site Gibbs. Chains
    start from u, or else from the keys. `baseline` takes off the mean weight of the other chains,
    which changes no expectation.
    """

    transitions: int
    chains: int
    backward: int = 0
    proposals: int = 0
    from_restart: bool = True
    train_restart: bool = True
    baseline: bool = False
    geometric: bool = False


@kept(about=5)
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
def spells(num_keys, z, length, y, size, letters):
    """Whether a labelling spells the word y."""
    if spell(num_keys, z, length, letters) != size:
        return False
    return same(letters, y, size)


@njit
def reward_of(num_keys, z, length, y, letters):
    found = spell(num_keys, z, length, letters)
    return reward(edit_distance(y, letters[:found]))


@njit
def path_weights(logs, forward_share, length):
    """The balance heuristic: paths' weights from log p/p_backward; returns what was taken off.

    A path weighs p/(α·p_forward + (1-α)·p_backward) with α the share of walks that go forward,
    which take a path with its own probability p. Bounded unless α = 0.
    """
    top = 0.0
    if forward_share == 0.0:
        top = -np.inf
        for c in range(len(logs)):
            for t in range(length[c] + 1):
                top = max(top, logs[c, t])
    for c in range(len(logs)):
        for t in range(length[c] + 1):
            if forward_share == 0.0:
                logs[c, t] = math.exp(logs[c, t] - top)
            elif logs[c, t] > -700.0:
                back = math.exp(-logs[c, t])
                logs[c, t] = 1.0 / (forward_share + (1.0 - forward_share) * back)
            else:
                logs[c, t] = 0.0
    return top


@kept(about=5)
def doeblin_pass(model, gestures, order, weights, squares, plan, rate):
    """Gradient steps by tours of the Doeblin chain, of which every state is a draw from π̃.

    Without chains that go back this is Algorithm 1 with edit-distance weights: ∇ log E_π̃[reward],
    every transition being responsible for all states that follow it. With them it is ∇ log π̃(y):
    so many chains begin at an alignment of the true word, drawn exactly by the lattice, and walk
    back in time (both kernels are reversible); the others walk forward and count where they spell
    the word. `squares` are AdaGrad's, of u and of the full model. Returns the mean log of the
    estimates and the transitions.
    """
    num_keys, hard, longest = model.num_keys, model.hard, gestures.xs.shape[1]
    mean_length, chains, backward_chains = plan.transitions, plan.chains, plan.backward
    restart, full, frozen = weights
    epsilon, most = 1.0 / (mean_length + 1.0), LONGEST_TOUR * max(mean_length, 1)
    field, proposal = make_field(num_keys, longest), make_field(num_keys, longest)
    record = make_record(num_keys, longest, chains, most + 1, plan.proposals)
    slopes, full_slopes = make_slopes(len(full)), make_slopes(len(full))
    sums = np.zeros(longest + 1)
    spellings = np.zeros((longest, gestures.ys.shape[1] + 1, 3))
    z, letters = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
    lengths = np.zeros(chains, np.int64)
    first = np.zeros((chains, longest), np.int64)
    worth = np.zeros((chains, most + 2))
    log_value, transitions = 0.0, 0
    for e in order:
        length, size = gestures.x_sizes[e], gestures.y_sizes[e]
        x, y = gestures.xs[e, :length], gestures.ys[e, :size]
        prefix_sums(num_keys, full, sums)
        last, log_partition = fill_field(field, num_keys, x, length, restart, hard, NO)
        if plan.proposals > 0:
            fill_field(proposal, num_keys, x, length, frozen, hard, YES)
        log_word = 0.0
        if backward_chains > 0:
            log_word = lattice(num_keys, y, size, length, hard, field.unary, field.step, spellings)
            if log_word == -np.inf:
                continue
            log_word -= log_partition
        for c in range(chains):
            back = c < backward_chains
            if back:
                draw_lattice(num_keys, y, size, length, hard, field.step, spellings, z)
            else:
                draw_suffix(field, num_keys, NOUGHT, length, z)
            copy(z, longest, first[c])
            lengths[c] = tour_length(epsilon, most) if mean_length > 0 else 0
            begin = 0.0
            if backward_chains > 0:
                begin = lift(model, x, z, restart, full)
            for t in range(lengths[c] + 1):
                if t > 0:
                    move(record, (c, t), model, proposal, x, weights, sums, z)
                if backward_chains == 0:
                    worth[c, t] = reward_of(num_keys, z, length, y, letters)
                elif not back and not spells(num_keys, z, length, y, size, letters):
                    worth[c, t] = -np.inf
                else:
                    # By reversibility p/p_backward = u(y)·lift(where the path ends)/lift(start).
                    here = lift(model, x, z, restart, full)
                    worth[c, t] = log_word + (begin - here if back else here - begin)
            transitions += lengths[c]
        if backward_chains > 0:
            log_value += path_weights(worth, 1.0 - backward_chains / chains, lengths)
        # Chains of either direction are the baseline of their own kind.
        earned, prefixes = np.zeros(2), np.zeros(2)
        for c in range(chains):
            kind = 1 if c < backward_chains else 0
            prefixes[kind] += lengths[c] + 1
            for t in range(lengths[c] + 1):
                earned[kind] += worth[c, t]
        total, states = earned.sum(), prefixes.sum()
        log_value += math.log(total / states)
        restarted = 0.0
        for c in range(chains):
            back = c < backward_chains
            own = 0.0
            for t in range(lengths[c] + 1):
                own += worth[c, t]
            kind = 1 if back else 0
            others = prefixes[kind] - lengths[c] - 1
            base = (earned[kind] - own) / others if plan.baseline and others > 0 else 0.0
            copy(first[c], longest, z)
            to_go, run = own, 0.0
            for t in range(lengths[c] + 1):
                less = base * (lengths[c] + 1 - t)
                if t > 0:
                    # Back in time, it is the step from the new state to the old one that counts;
                    # the step that was taken has a score of mean zero, and bears the baseline.
                    new = record.new[c, t]
                    counts = record.old[c, t] if back else new
                    for part in range(2):
                        amount = to_go if part == 0 else -less
                        if counts == new:
                            amount = to_go - less if part == 0 else 0.0
                        if amount != 0.0:
                            chosen = counts if part == 0 else new
                            add_move(
                                record, (c, t), chosen, model, x, z, amount / total, full_slopes
                            )
                    replay(record, (c, t), length, z)
                run += worth[c, t]
                to_go -= worth[c, t]
                # u drew the first state of a walk forward, and every last state of one back.
                if not plan.train_restart or not (back or t == 0):
                    continue
                if back and t < lengths[c] and record.old[c, t + 1] == record.new[c, t + 1]:
                    continue
                amount = (run if back else own - less) / total
                add_features(model, x, z, NO, amount, slopes)
                restarted += amount
                run = 0.0
        if plan.train_restart:
            expect(num_keys, x, last, field, -restarted, slopes)
            adagrad(restart, squares[0], slopes, rate)
        adagrad(full, squares[1], full_slopes, rate)
    return log_value / len(order), transitions


@kept(about=5)
def gibbs_pass(model, gestures, order, weights, squares, plan, rate):
    """The approximate gradient: reweighted minus plain features of samples after burn-in.

    Chains start from u, or else from z_i = x_i, and take Gibbs steps in the full model, which alone
    is trained.
    """
    num_keys, longest = model.num_keys, gestures.xs.shape[1]
    transitions, chains, full = plan.transitions, plan.chains, weights.full
    field = make_field(num_keys, longest)
    record = make_record(num_keys, longest, 1, 1, 0)
    slopes = make_slopes(len(full))
    sums = np.zeros(longest + 1)
    z, letters = np.zeros(longest, np.int64), np.zeros(longest, np.int64)
    burn = transitions // 2
    counted = transitions - burn
    states = np.zeros((chains, counted, longest), np.int64)
    rewards = np.zeros((chains, counted))
    log_reward = 0.0
    for e in order:
        length, size = gestures.x_sizes[e], gestures.y_sizes[e]
        x, y = gestures.xs[e, :length], gestures.ys[e, :size]
        prefix_sums(num_keys, full, sums)
        if plan.from_restart:
            fill_field(field, num_keys, x, length, weights.restart, model.hard, NO)
        for c in range(chains):
            if plan.from_restart:
                draw_suffix(field, num_keys, NOUGHT, length, z)
            else:
                for i in range(length):
                    z[i] = x[i] + 1
            for t in range(1, transitions + 1):
                move(record, (0, 0), model, field, x, weights, sums, z)
                if t > burn:
                    copy(z, longest, states[c, t - burn - 1])
                    rewards[c, t - burn - 1] = reward_of(num_keys, z, length, y, letters)
        total = rewards.sum()
        log_reward += math.log(total / (chains * counted))
        for c in range(chains):
            amount = 0.0
            for t in range(counted):
                amount += rewards[c, t] / total - 1.0 / (chains * counted)
                # Runs of one state are added at once.
                stays = t + 1 < counted
                if stays:
                    for i in range(length):
                        if states[c, t, i] != states[c, t + 1, i]:
                            stays = False
                            break
                if not stays:
                    add_features(model, x, states[c, t], YES, amount, slopes)
                    amount = 0.0
        adagrad(full, squares[1], slopes, rate)
    return log_reward / len(order), len(order) * chains * transitions
