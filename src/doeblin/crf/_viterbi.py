"""The best labellings, exactly, along an automaton of patterns; compiled for the processor."""

from __future__ import annotations

import numpy as np

from .._numba import kept, part
from ._lattice import log_ways, word_score


@kept(about=6.0)
def best(automaton, weights, words, scores, starts, labels) -> None:
    """The labelling of largest weight of each sequence, into `labels` (max-product)."""
    num_states, num_labels = automaton.last.shape[0], scores.shape[1]
    longest = 0
    for number in range(starts.shape[0] - 1):
        longest = max(longest, starts[number + 1] - starts[number])
    came = np.empty((longest + 1, num_states), np.int32)
    ways = log_ways(automaton, weights)
    now, following = np.empty(num_states), np.empty(num_states)
    for number in range(starts.shape[0] - 1):
        begin, end = starts[number], starts[number + 1]
        if begin == end:
            continue
        now[:] = -np.inf
        now[num_labels] = 0
        for place in range(end - begin):
            _climb(automaton.target, ways, now, following, came[place + 1])
            for state in range(num_states):
                last = automaton.last[state]
                score = scores[begin + place, last] if last < num_labels else -np.inf
                now[state] = following[state] + score
        state, top = 0, -np.inf
        for candidate in range(num_states):
            total = now[candidate] + weights.ends[candidate]
            if total > top:
                state, top = candidate, total
        for place in range(end - begin - 1, -1, -1):
            labels[begin + place] = automaton.last[state]
            state = came[place + 1, state]
        length = end - begin
        if length + 1 < words.by_length.shape[0]:
            for word in range(words.by_length[length], words.by_length[length + 1]):
                total = word_score(words, word, scores[begin:end], weights) + words.bonus[word]
                if total > top:
                    top = total
                    at = words.first[word]
                    labels[begin:end] = words.labels[at : at + length]


@part()
def _climb(targets, ways, now, following, came):
    """The best score of each state at the next place, and the state that it comes from."""
    following[:] = -np.inf
    for state in range(now.shape[0]):
        if now[state] == -np.inf:
            continue
        for label in range(targets.shape[1]):
            target, score = targets[state, label], now[state] + ways[state, label]
            if score > following[target]:
                following[target], came[target] = score, state
