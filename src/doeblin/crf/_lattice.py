"""Sums over all labellings of many sequences, exactly, compiled for the processor.

The past of a place is a state of an automaton of patterns. A step takes a vector over states to the
next one: where a state has no edge of its own for a label, its weight is handed to the state that
it falls back on, row by row, so a step costs states times labels; without patterns it is the
forward algorithm of a linear chain. Weights are scaled at each place, in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._numba import kept, part


class Weights(NamedTuple):
    """What labellings are weighed by, besides the scores of single places."""

    steps: NDArray[np.float64]
    """Scores of label after label; row K has those of the first label."""
    ends: NDArray[np.float64]
    """Scores of each state at the end."""
    edges: NDArray[np.float64]
    """Scores of each edge: of all patterns that end with it."""


class Expected(NamedTuple):
    """What is expected of labellings, summed over sequences; filled in."""

    labels: NDArray[np.float32]
    """P(label) at each place."""
    steps: NDArray[np.float64]
    ends: NDArray[np.float64]
    edges: NDArray[np.float64]


class Words(NamedTuple):
    """Whole labellings that are listed: their labels, and the edges that each label takes."""

    labels: NDArray[np.int32]
    edges: NDArray[np.int32]
    """-1 where it is none."""
    first: NDArray[np.int64]
    """Where the labels of each begin; and one more."""
    last: NDArray[np.int32]
    """The state at the end of each."""
    by_length: NDArray[np.int64]
    """The first of each length; they are ordered by it."""
    bonus: NDArray[np.float64]
    """What each scores more because it is listed."""


@part(fastmath=True)
def _advance(automaton, weights, now, following, handed, work):
    """Weights of the states at the next place, without its own scores.

    `handed` keeps what each edge takes, and what single labels have for all other labels.
    """
    rows, live = work
    taken, tops = handed
    num_labels = rows.shape[1]
    for state in range(now.shape[0]):
        following[state] = 0
        live[state] = False
    for state in range(now.shape[0] - 1, -1, -1):
        own, last, shorter = now[state], automaton.last[state], automaton.fallback[state]
        if live[state]:
            for label in range(num_labels):
                rows[state, label] += own
        elif own != 0 or shorter < 0:
            for label in range(num_labels):
                rows[state, label] = own
        else:
            for edge in range(automaton.first_edge[state], automaton.first_edge[state + 1]):
                taken[edge] = 0
            continue
        for edge in range(automaton.first_edge[state], automaton.first_edge[state + 1]):
            label = automaton.edge_label[edge]
            taken[edge] = rows[state, label] * weights.steps[last, label] * weights.edges[edge]
            following[automaton.edge_target[edge]] += taken[edge]
            rows[state, label] = 0
        if shorter < 0:
            for label in range(num_labels):
                tops[last, label] = rows[state, label] * weights.steps[last, label]
                following[label] += tops[last, label]
        elif live[shorter]:
            for label in range(num_labels):
                rows[shorter, label] += rows[state, label]
        else:
            for label in range(num_labels):
                rows[shorter, label] = rows[state, label]
            live[shorter] = True


@part(fastmath=True)
def _forward(automaton, weights, factors, kept_sums, work):
    """The logarithm of the sum of all labellings. Keeps the weights of all beginnings by state,
    before[t] those of t labels, which are scaled to sum to one."""
    before, scales, taken, tops = kept_sums
    length, num_states, boundary = factors.shape[0], before.shape[1], factors.shape[1]
    for state in range(num_states):
        before[0, state] = 0
    before[0, boundary] = 1
    total = 0.0
    for place in range(length):
        now, handed = before[place + 1], (taken[place], tops[place])
        _advance(automaton, weights, before[place], now, handed, work)
        now[boundary] = 0
        sum_now = 0.0
        for state in range(num_states):
            if state != boundary:
                now[state] *= factors[place, automaton.last[state]]
            sum_now += now[state]
        for state in range(num_states):
            now[state] /= sum_now
        scales[place] = sum_now
        total += np.log(sum_now)
    return total + np.log((before[length] * weights.ends).sum())


@part(fastmath=True)
def _backward(automaton, weights, factors, share, expected, kept_sums, work):
    """Add what is expected, times `share`; from the last place to the first."""
    before, scales, taken, tops = kept_sums
    ahead, onward = work
    length, num_labels, num_states = factors.shape[0], factors.shape[1], before.shape[1]
    after = weights.ends / (before[length] * weights.ends).sum()
    for state in range(num_states):
        expected.ends[state] += share * before[length, state] * after[state]
    for place in range(length - 1, -1, -1):
        for state in range(num_states):
            last = automaton.last[state]
            # Nothing leads back to the boundary.
            onward[state] = 0
            if last < num_labels:
                mass = share * before[place + 1, state] * after[state]
                expected.labels[place, last] += np.float32(mass)
                onward[state] = after[state] * factors[place, last] / scales[place]
        for state in range(num_states):
            for edge in range(automaton.first_edge[state], automaton.first_edge[state + 1]):
                mass = share * taken[place, edge] * onward[automaton.edge_target[edge]]
                expected.edges[edge] += mass
                expected.steps[automaton.last[state], automaton.edge_label[edge]] += mass
        for last in range(num_labels + 1):
            for label in range(num_labels):
                expected.steps[last, label] += share * tops[place, last, label] * onward[label]
        _retreat(automaton, weights, onward, ahead, after)


@part(fastmath=True)
def _retreat(automaton, weights, onward, ahead, after):
    """Weights of all continuations by state, one place earlier."""
    num_labels = ahead.shape[1]
    for state in range(after.shape[0]):
        shorter, last = automaton.fallback[state], automaton.last[state]
        if shorter < 0:
            for label in range(num_labels):
                ahead[state, label] = weights.steps[last, label] * onward[label]
        else:
            for label in range(num_labels):
                ahead[state, label] = ahead[shorter, label]
        for edge in range(automaton.first_edge[state], automaton.first_edge[state + 1]):
            label = automaton.edge_label[edge]
            weight = weights.steps[last, label] * weights.edges[edge]
            ahead[state, label] = weight * onward[automaton.edge_target[edge]]
        total = 0.0
        for label in range(num_labels):
            total += ahead[state, label]
        after[state] = total


@part(fastmath=True)
def _chain_forward(weights, factors, before, scales):
    """`_forward` without patterns, where states are labels: a product of a vector and a matrix at
    each place. Scores come as factors, each place's largest one."""
    length, num_labels = factors.shape
    total = 0.0
    for place in range(length):
        for label in range(num_labels):
            before[place + 1, label] = 0
        if place == 0:
            for label in range(num_labels):
                before[1, label] = weights.steps[num_labels, label]
        else:
            for state in range(num_labels):
                own = before[place, state]
                for label in range(num_labels):
                    before[place + 1, label] += own * weights.steps[state, label]
        sum_now = 0.0
        for label in range(num_labels):
            before[place + 1, label] *= factors[place, label]
            sum_now += before[place + 1, label]
        scale = 1 / sum_now
        for label in range(num_labels):
            before[place + 1, label] *= scale
        scales[place] = scale
        total += np.log(sum_now)
    last = 0.0
    for label in range(num_labels):
        last += before[length, label] * weights.ends[label]
    return total + np.log(last)


@part(fastmath=True)
def _chain_backward(weights, factors, share, expected, kept_sums, work):
    """`_backward` without patterns."""
    before, scales = kept_sums
    after, onward = work
    length, num_labels = factors.shape
    total = 0.0
    for label in range(num_labels):
        total += before[length, label] * weights.ends[label]
    for label in range(num_labels):
        after[label] = share * weights.ends[label] / total
        expected.ends[label] += before[length, label] * after[label]
    for place in range(length - 1, -1, -1):
        for label in range(num_labels):
            mass = before[place + 1, label] * after[label]
            expected.labels[place, label] += np.float32(mass)
            onward[label] = after[label] * factors[place, label] * scales[place]
        if place == 0:
            for label in range(num_labels):
                expected.steps[num_labels, label] += (
                    weights.steps[num_labels, label] * onward[label]
                )
            return
        for state in range(num_labels):
            own, back = before[place, state], 0.0
            for label in range(num_labels):
                way = weights.steps[state, label] * onward[label]
                expected.steps[state, label] += own * way
                back += way
            after[state] = back


@part()
def word_score(words, word, scores, log_weights):
    """The log-weight of a listed labelling, without its bonus."""
    total, previous = log_weights.ends[words.last[word]], scores.shape[1]
    begin = words.first[word]
    for place in range(scores.shape[0]):
        label, edge = words.labels[begin + place], words.edges[begin + place]
        total += np.float64(scores[place, label]) + log_weights.steps[previous, label]
        if edge >= 0:
            total += log_weights.edges[edge]
        previous = label
    return total


@part()
def _listed(words, scores, log_weights, log_sum, probabilities):
    """By how much listed labellings raise the sum of all, relative to it. `probabilities` gets
    those that they have without it."""
    length, more = scores.shape[0], 0.0
    if length + 1 < words.by_length.shape[0]:
        for word in range(words.by_length[length], words.by_length[length + 1]):
            found = np.exp(word_score(words, word, scores, log_weights) - log_sum)
            probabilities[word] = found
            more += found * np.expm1(words.bonus[word])
    return more


@part()
def _add_words(words, probabilities, more, expected, bonuses):
    """Add what listed labellings are expected to add."""
    length, num_labels = expected.labels.shape
    if length + 1 >= words.by_length.shape[0]:
        return
    for word in range(words.by_length[length], words.by_length[length + 1]):
        bonuses[word] += probabilities[word] * np.exp(words.bonus[word]) / (1 + more)
        mass = probabilities[word] * np.expm1(words.bonus[word]) / (1 + more)
        if np.abs(mass) < 1e-12:
            continue
        begin, previous = words.first[word], num_labels
        for place in range(length):
            label, edge = words.labels[begin + place], words.edges[begin + place]
            expected.labels[place, label] += np.float32(mass)
            expected.steps[previous, label] += mass
            if edge >= 0:
                expected.edges[edge] += mass
            previous = label
        expected.ends[words.last[word]] += mass


@kept(about=12.0, fastmath=True)
def sums(automaton, log_weights, words, scores, factors, starts, expected, bonuses) -> Any:
    """The logarithms of the sums over all labellings of each sequence, scores taken as `factors`.

    What is expected is added to `expected` and, of listed words, `bonuses`.
    """
    num_states, num_labels = automaton.last.shape[0], scores.shape[1]
    weights = Weights(
        np.exp(log_weights.steps), np.exp(log_weights.ends), np.exp(log_weights.edges)
    )
    longest = 0
    for number in range(starts.shape[0] - 1):
        longest = max(longest, starts[number + 1] - starts[number])
    before, scales = np.empty((longest + 1, num_states)), np.empty(longest)
    taken = np.empty((longest, automaton.edge_label.shape[0]))
    is_chain = num_states == num_labels + 1
    tops = np.empty((0 if is_chain else longest, num_labels + 1, num_labels))
    rows, ahead = np.empty((num_states, num_labels)), np.empty((num_states, num_labels))
    live, after, onward = np.zeros(num_states, np.bool_), np.empty(num_states), np.empty(num_states)
    probabilities = np.zeros(words.bonus.shape[0])
    found = np.empty(starts.shape[0] - 1)
    for number in range(starts.shape[0] - 1):
        begin, end = starts[number], starts[number + 1]
        found[number] = 0
        if begin == end:
            continue
        own = factors[begin:end]
        kept_sums = (before, scales, taken, tops)
        if is_chain:
            log_sum = _chain_forward(weights, own, before, scales)
        else:
            log_sum = _forward(automaton, weights, own, kept_sums, (rows, live))
        for place in range(begin, end):
            log_sum += scores[place].max()
        more = _listed(words, scores[begin:end], log_weights, log_sum, probabilities)
        found[number] = log_sum + np.log1p(more)
        here = Expected(expected.labels[begin:end], expected.steps, expected.ends, expected.edges)
        share = 1 / (1 + more)
        if is_chain:
            _chain_backward(weights, own, share, here, (before, scales), (after, onward))
        else:
            _backward(automaton, weights, own, share, here, kept_sums, (ahead, onward))
        _add_words(words, probabilities, more, here, bonuses)
    return found


@kept(about=1.0, fastmath=True)
def gathered(first, numbers, values, weights, scores) -> None:
    """At each place, the sum of the weights of its features times their values; `values` may be
    empty, for all are one."""
    for place in range(scores.shape[0]):
        for label in range(scores.shape[1]):
            scores[place, label] = 0
        for entry in range(first[place], first[place + 1]):
            number = numbers[entry]
            value = values[entry] if values.shape[0] else np.float32(1)
            for label in range(scores.shape[1]):
                scores[place, label] += weights[number, label] * value


@kept(about=1.0, fastmath=True)
def scattered(first, numbers, values, expected, totals) -> None:
    """The transpose of `gathered`: what is expected at each place is taken off `totals`."""
    for place in range(expected.shape[0]):
        for entry in range(first[place], first[place + 1]):
            number = numbers[entry]
            value = values[entry] if values.shape[0] else np.float32(1)
            for label in range(expected.shape[1]):
                totals[number, label] -= expected[place, label] * value


@kept(about=0.5)
def cumulated(parents, own) -> None:
    """Add to each what its parent has; parents come first, and -1 is none."""
    for at in range(own.shape[0]):
        if parents[at] >= 0:
            own[at] += own[parents[at]]


@kept(about=0.5)
def handed_up(parents, own) -> None:
    """The transpose of `cumulated`."""
    for at in range(own.shape[0] - 1, -1, -1):
        if parents[at] >= 0:
            own[parents[at]] += own[at]
