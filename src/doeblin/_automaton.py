"""Patterns of labels (n-grams of any order) as an automaton: what has to be known of the past."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Pattern = tuple[int, ...]


class Automaton(NamedTuple):
    """States are the pasts that some pattern goes on from, each the longest that fits.

    States 0 to K - 1 are the single labels, K the boundary, at which every sequence starts; the
    others follow, shorter ones first. A state falls back on the longest past that it ends with. An
    edge is there where a label goes on with a pattern; all others are those of the state that one
    falls back on, and at last of no past at all.
    """

    last: NDArray[np.int32]
    """The last label of each state (K: the boundary)."""
    fallback: NDArray[np.int32]
    """-1 for single labels and the boundary."""
    edge: NDArray[np.int32]
    """The edge that each state takes with each label, its own or one that it falls back on; -1 if
    the label goes on with no pattern."""
    target: NDArray[np.int32]
    """The state after that."""
    edge_parent: NDArray[np.int32]
    """The edge of the same label that a shorter past has, or -1: its patterns end here, too."""
    edge_pattern: NDArray[np.int32]
    """The pattern that ends here, or -1."""
    end_pattern: NDArray[np.int32]
    """The pattern of the state and the boundary after it, or -1."""

    @property
    def num_states(self) -> int:
        return len(self.last)

    @classmethod
    def of(cls, patterns: Sequence[Pattern], num_labels: int) -> Automaton:
        """Patterns are of two symbols or more; `num_labels` is the boundary's number."""
        number = {pattern: index for index, pattern in enumerate(patterns)}
        pasts = {pattern[:size] for pattern in patterns for size in range(2, len(pattern))}
        singles = [(label,) for label in range(num_labels + 1)]
        states = [*singles, *sorted(pasts, key=lambda past: (len(past), past))]
        index = {state: at for at, state in enumerate(states)}

        def longest(symbols: Pattern) -> int:
            while symbols not in index:
                symbols = symbols[1:]
            return index[symbols]

        fallback = [longest(state[1:]) if len(state) > 1 else -1 for state in states]
        following = [set[int]() for _ in states]
        for symbols in (*pasts, *patterns):
            if symbols[-1] != num_labels:
                following[index[symbols[:-1]]].add(symbols[-1])
        edge = np.full((len(states), num_labels), -1, np.int32)
        target = np.tile(np.arange(num_labels, dtype=np.int32), (len(states), 1))
        rows = []
        for at, state in enumerate(states):
            if fallback[at] >= 0:  # a shorter past, which came before
                edge[at], target[at] = edge[fallback[at]], target[fallback[at]]
            for label in sorted(following[at]):
                whole = (*state, label)
                rows.append((edge[at, label], number.get(whole, -1)))
                edge[at, label], target[at, label] = len(rows) - 1, longest(whole)
        return cls(
            np.array([state[-1] for state in states], np.int32),
            np.array(fallback, np.int32),
            edge,
            target,
            np.array([parent for parent, _ in rows], np.int32),
            np.array([pattern for _, pattern in rows], np.int32),
            np.array([number.get((*state, num_labels), -1) for state in states], np.int32),
        )


def ngrams(sequences: Iterable[Any], orders: Iterable[int], boundary: int) -> list[Pattern]:
    """All n-grams of some orders in sequences, the boundary before and after each counted in."""
    found: set[Pattern] = set()
    wanted = sorted(set(orders))
    for sequence in {tuple(map(int, sequence)) for sequence in sequences}:
        symbols = (boundary, *sequence, boundary)
        for order in wanted:
            found.update(symbols[at : at + order] for at in range(len(symbols) - order + 1))
    return sorted(found)
