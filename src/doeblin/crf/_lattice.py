"""Sums over all labellings of many sequences, exactly, compiled for the processor.

The past of a place is a state of an automaton of patterns. A step costs the states that have weight
times the labels that have any at the next place, so that places where few labels are possible cost
little; without patterns it is the forward algorithm of a linear chain. Weights are scaled at each
place, in double precision.
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


@part()
def log_ways(automaton, log_weights):
    """What each label scores after each state, besides the score of its place."""
    num_states, num_labels = automaton.edge.shape
    found = np.empty((num_states, num_labels))
    for state in range(num_states):
        for label in range(num_labels):
            found[state, label] = log_weights.steps[automaton.last[state], label]
            if automaton.edge[state, label] >= 0:
                found[state, label] += log_weights.edges[automaton.edge[state, label]]
    return found


@part()
def _possible(factors, labels):
    """How many labels have any weight; `labels` gets them."""
    number = 0
    for label in range(factors.shape[0]):
        if factors[label] > 0:
            labels[number] = label
            number += 1
    return number


@part(fastmath=True)
def _forward(automaton, ways, ends, factors, kept_sums, work):
    """The logarithm of the sum of all labellings. Keeps the weights of all beginnings by state,
    before[t] those of t labels, which are scaled to sum to one, and the states that have any."""
    before, scales, live, counts = kept_sums
    labels, seen = work
    length, num_labels = factors.shape
    for state in range(seen.shape[0]):
        seen[state] = 0
    live[0, 0], counts[0], before[0, num_labels] = num_labels, 1, 1
    total = 0.0
    for place in range(length):
        following, number = before[place + 1], 0
        some = _possible(factors[place], labels)
        for at in range(counts[place]):
            state = live[place, at]
            own = before[place, state]
            for label in labels[:some]:
                target = automaton.target[state, label]
                if seen[target] != place + 1:
                    seen[target], following[target] = place + 1, 0
                    live[place + 1, number] = target
                    number += 1
                following[target] += own * ways[state, label]
        counts[place + 1] = number
        sum_now = 0.0
        for at in range(number):
            state = live[place + 1, at]
            following[state] *= factors[place, automaton.last[state]]
            sum_now += following[state]
        for at in range(number):
            following[live[place + 1, at]] /= sum_now
        scales[place] = sum_now
        total += np.log(sum_now)
    last = 0.0
    for at in range(counts[length]):
        last += before[length, live[length, at]] * ends[live[length, at]]
    return total + np.log(last)


@part(fastmath=True)
def _backward(automaton, weights, factors, share, expected, kept_sums, work):
    """Add what is expected, times `share`; from the last place to the first."""
    before, scales, live, counts = kept_sums
    labels, ways, masses, after, onward = work
    length = factors.shape[0]
    total = 0.0
    for at in range(counts[length]):
        state = live[length, at]
        total += before[length, state] * weights.ends[state]
    for at in range(counts[length]):
        state = live[length, at]
        after[state] = weights.ends[state] / total
        expected.ends[state] += share * before[length, state] * after[state]
    for place in range(length - 1, -1, -1):
        for at in range(counts[place + 1]):
            state = live[place + 1, at]
            last = automaton.last[state]
            mass = share * before[place + 1, state] * after[state]
            expected.labels[place, last] += np.float32(mass)
            onward[state] = after[state] * factors[place, last] / scales[place]
        some = _possible(factors[place], labels)
        for at in range(counts[place]):
            state = live[place, at]
            own, back = share * before[place, state], 0.0
            for label in labels[:some]:
                way = ways[state, label] * onward[automaton.target[state, label]]
                masses[state, label] += own * way
                back += way
            after[state] = back


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
    is_chain = num_states == num_labels + 1
    live = np.empty((0 if is_chain else longest + 1, num_states), np.int32)
    counts, seen = np.empty(longest + 1, np.int64), np.empty(num_states, np.int64)
    labels, after, onward = (
        np.empty(num_labels, np.int64),
        np.empty(num_states),
        np.empty(num_states),
    )
    ways, masses = np.exp(log_ways(automaton, log_weights)), np.zeros((num_states, num_labels))
    probabilities = np.zeros(words.bonus.shape[0])
    found = np.empty(starts.shape[0] - 1)
    for number in range(starts.shape[0] - 1):
        begin, end = starts[number], starts[number + 1]
        found[number] = 0
        if begin == end:
            continue
        own = factors[begin:end]
        kept_sums = (before, scales, live, counts)
        if is_chain:
            log_sum = _chain_forward(weights, own, before, scales)
        else:
            log_sum = _forward(automaton, ways, weights.ends, own, kept_sums, (labels, seen))
        for place in range(begin, end):
            log_sum += scores[place].max()
        more = _listed(words, scores[begin:end], log_weights, log_sum, probabilities)
        found[number] = log_sum + np.log1p(more)
        here = Expected(expected.labels[begin:end], expected.steps, expected.ends, expected.edges)
        share = 1 / (1 + more)
        if is_chain:
            _chain_backward(weights, own, share, here, (before, scales), (after, onward))
        else:
            work = (labels, ways, masses, after, onward)
            _backward(automaton, weights, own, share, here, kept_sums, work)
        _add_words(words, probabilities, more, here, bonuses)
    for state in range(num_states):
        for label in range(num_labels):
            mass, edge = masses[state, label], automaton.edge[state, label]
            expected.steps[automaton.last[state], label] += mass
            if edge >= 0:
                expected.edges[edge] += mass
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
