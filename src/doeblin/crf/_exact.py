"""CRFs with n-grams and word lists whose sums are exact: likelihood, learning, decoding.

log-weight(y) = scores of places and steps + Σ weights of the patterns that end at each place, and a
bonus if y as a whole is listed. All on the host, in compiled loops: nothing of it is padded, and
memory grows with the longest sequence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._automaton import Automaton, Pattern
from . import _lattice as lattice
from ._lattice import Expected, Weights, Words
from ._lbfgs import lowest
from ._viterbi import best

# A feature's curvature is how often it occurs times p(1 - p), which is small once most is learned.
# Of 0.05, 0.005 and 0.002 the second took the fewest steps, on tags of English words.
_CURVATURE = 0.005
# The score of a label that is not allowed: a number, for compiled loops that know no infinity.
_NEVER = np.float32(-1e30)


class Places(NamedTuple):
    """The features of all places of many sequences, one after the other."""

    starts: NDArray[np.int64]
    """Where each sequence begins; and one more, where the last ends."""
    dense: NDArray[np.float32] | None
    first: NDArray[np.int64]
    """Where the entries of each place begin; and one more."""
    numbers: NDArray[np.int32]
    values: NDArray[np.float32]
    """Empty if all are one."""
    allowed: NDArray[np.bool_] | None = None
    """Which labels each place may have; all, without it."""

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features times weights at every place."""
        if self.dense is not None:
            found = self.dense @ weights
        else:
            found = np.empty((len(self.first) - 1, weights.shape[1]), np.float32)
            lattice.gathered(self.first, self.numbers, self.values, weights, found)
        if self.allowed is not None:
            found[~self.allowed] = _NEVER
        return found

    def take_off(self, expected: NDArray[np.float32], totals: NDArray[np.float32]) -> None:
        """Take features times what is expected at each place off `totals`."""
        if self.dense is not None:
            totals -= self.dense.T @ expected
        else:
            lattice.scattered(self.first, self.numbers, self.values, expected, totals)


class Theta(NamedTuple):
    """All parameters."""

    weights: NDArray[np.float32]
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    patterns: NDArray[np.float32]
    words: NDArray[np.float32]
    """Of being listed, and of what the list says of a word."""

    @classmethod
    def views(cls, vector: NDArray[np.float32], shapes: Sequence[tuple[int, ...]]) -> Theta:
        """Parts of one vector, in their shapes."""
        found, begin = [], 0
        for shape in shapes:
            size = int(np.prod(shape, dtype=int))
            found.append(vector[begin : begin + size].reshape(shape))
            begin += size
        return cls(*found)


class Structure:
    """What there is to be weighed: labels, patterns of them, listed words."""

    def __init__(
        self,
        num_features: int,
        num_labels: int,
        patterns: Sequence[Pattern] = (),
        words: Mapping[tuple[int, ...], float] | None = None,
    ):
        self.num_labels = num_labels
        self.automaton = Automaton.of(patterns, num_labels)
        listed = sorted((words or {}).items(), key=lambda pair: (len(pair[0]), pair[0]))
        self.features = np.array([(1.0, value) for _, value in listed]).reshape(-1, 2)
        self.bonus_of = {
            word: features for (word, _), features in zip(listed, self.features, strict=True)
        }
        self._words = _laid_out(self.automaton, [word for word, _ in listed])
        labels = (num_labels,)
        self.shapes = (
            (num_features, num_labels),
            (num_labels, num_labels),
            labels,
            labels,
            (len(patterns),),
            (2 if listed else 0,),
        )
        self.size = sum(int(np.prod(shape, dtype=int)) for shape in self.shapes)

    @property
    def is_chain(self) -> bool:
        """Whether there is no more than single labels and pairs."""
        return not (self.shapes[4][0] or self.shapes[5][0])

    def weights(self, theta: Theta) -> Weights:
        """Scores of steps, ends and edges; those of edges and ends with all shorter patterns'."""
        automaton = self.automaton
        edges = _picked(theta.patterns, automaton.edge_pattern)
        lattice.cumulated(automaton.edge_parent, edges)
        ends = _picked(theta.patterns, automaton.end_pattern)
        lattice.cumulated(automaton.fallback, ends)
        ends += np.append(theta.end, 0.0)[automaton.last]
        steps = np.concatenate([theta.transitions, theta.start[None]]).astype(np.float64)
        return Weights(steps, ends, edges)

    def words(self, theta: Theta) -> Words:
        bonus = self.features @ theta.words if len(self.features) else np.zeros(0)
        return self._words._replace(bonus=bonus)

    def sums(self, places: Places, theta: Theta) -> tuple[Any, Any, Expected, Any]:
        """The scores of all places, log-sums of all sequences, what is expected, and how often
        each listed word."""
        scores, weights = places.scores(theta.weights), self.weights(theta)
        words = self.words(theta)
        expected = Expected(
            np.zeros(scores.shape, np.float32), *(np.zeros(each.shape) for each in weights)
        )
        bonuses = np.zeros(len(words.bonus))
        factors = np.exp(scores - scores.max(axis=1, keepdims=True))
        found = lattice.sums(
            self.automaton, weights, words, scores, factors, places.starts, expected, bonuses
        )
        return scores, found, expected, bonuses

    def counts(self, places: Places, labels: NDArray[np.int32]) -> Theta:
        """Of given labels, what multiplies each parameter in their log-weight."""
        onehot = np.zeros((len(labels), self.num_labels), np.float32)
        onehot[np.arange(len(labels)), labels] = -1
        found = Theta.views(np.zeros(self.size, np.float32), self.shapes)
        places.take_off(onehot, found.weights)
        automaton = self.automaton
        edges, ends = np.zeros(len(automaton.edge_parent)), np.zeros(automaton.num_states)
        for begin, end in zip(places.starts[:-1], places.starts[1:], strict=True):
            own = labels[begin:end].tolist()
            found.start[own[0]] += 1
            found.end[own[-1]] += 1
            np.add.at(found.transitions, (own[:-1], own[1:]), 1)
            if len(edges):
                taken, last = _walk(automaton, own)
                for edge in taken:
                    if edge >= 0:
                        edges[edge] += 1
                ends[last] += 1
            if (bonus := self.bonus_of.get(tuple(own))) is not None:
                found.words[:] += bonus
        self.hand_up(edges, ends, found.patterns)
        return found

    def metric(self, places: Places, patterns: Any, l2: float) -> NDArray[np.float32]:
        """About one over the second derivative of the loss by each parameter: of a feature, or one
        of the patterns, it grows with how often it occurs."""
        number = len(places.starts) - 1
        found = np.ones(self.size, np.float32)
        theta = Theta.views(found, self.shapes)
        squares = np.ones(self.shapes[0][0])
        if places.dense is not None:
            squares = np.square(places.dense, dtype=np.float64).sum(axis=0)
        elif len(places.numbers):
            values = places.values if len(places.values) else np.ones(len(places.numbers))
            squares = np.bincount(places.numbers, np.square(values, dtype=float), len(squares))
        theta.weights[:] = squares[:, None]
        theta.transitions[:] = len(places.first) / self.num_labels
        theta.patterns[:] = np.maximum(patterns, 1)
        return (1 / (found * _CURVATURE / number + l2)).astype(np.float32)

    def hand_up(self, edges: Any, ends: Any, patterns: Any) -> None:
        """From edges and ends to the patterns that they have; `edges` and `ends` are changed."""
        automaton = self.automaton
        lattice.handed_up(automaton.edge_parent, edges)
        lattice.handed_up(automaton.fallback, ends)
        for own, number in ((edges, automaton.edge_pattern), (ends, automaton.end_pattern)):
            np.add.at(patterns, number[number >= 0], own[number >= 0])

    def best(self, places: Places, theta: Theta) -> NDArray[np.int32]:
        """The labels of the largest weight (Viterbi)."""
        scores = places.scores(theta.weights)
        labels = np.empty(len(scores), np.int32)
        weights, words = self.weights(theta), self.words(theta)
        best(self.automaton, weights, words, scores, places.starts, labels)
        return labels


class Coarse(NamedTuple):
    """A CRF of single labels and pairs that says which labels a place may have at all."""

    structure: Structure
    theta: Theta
    least: float
    """Labels that are less probable are left out."""

    def pruned(self, places: Places, labels: NDArray[np.int32] | None = None) -> Places:
        """The same places with likely labels only; those that are given stay, too."""
        found = self.structure.sums(places, self.theta)[2].labels
        allowed = found >= self.least
        every = np.arange(len(found))
        allowed[every, found.argmax(axis=1)] = True
        if labels is not None:
            allowed[every, labels] = True
        return places._replace(allowed=allowed)


def learned(
    structure: Structure,
    places: Places,
    labels: NDArray[np.int32],
    *,
    l2: float,
    steps: int,
    tolerance: float = 3e-3,
    start: Theta | None = None,
) -> Theta:
    """Maximum likelihood, less l2/2·‖θ‖² of the mean over sequences, by L-BFGS.

    From `start`, that of a structure without patterns and words; or else from zero.
    """
    given = structure.counts(places, labels)
    flat = np.concatenate([part.ravel() for part in given])
    number = len(places.starts) - 1

    def loss(vector: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        theta = Theta.views(vector, structure.shapes)
        try:
            scores, sums, expected, bonuses = structure.sums(places, theta)
        except ZeroDivisionError:  # weights so large that nothing is left to divide by
            return math.inf, vector
        gradient = flat.copy()
        slope = Theta.views(gradient, structure.shapes)
        places.take_off(expected.labels, slope.weights)
        slope.transitions[:] -= expected.steps[:-1]
        slope.start[:] -= expected.steps[-1]
        ends = np.bincount(structure.automaton.last, expected.ends, structure.num_labels + 1)
        slope.end[:] -= ends[:-1]
        structure.hand_up(-expected.edges, -expected.ends, slope.patterns)
        if len(slope.words):
            slope.words[:] -= bonuses @ structure.features
        # From the scores themselves, in double precision: steps of the climb become small.
        at_places = scores[np.arange(len(labels)), labels].sum(dtype=np.float64)
        rest = vector[given.weights.size :], flat[given.weights.size :]
        reached = at_places + np.dot(rest[0].astype(np.float64), rest[1]) - sums.sum()
        penalty = l2 / 2 * float(np.dot(vector, vector))
        gradient *= np.float32(-1 / number)
        gradient += np.float32(l2) * vector
        return penalty - float(reached) / number, gradient

    begin = np.zeros(structure.size, np.float32)
    if start is not None:
        known = np.concatenate([part.ravel() for part in start])
        begin[: len(known)] = known
    metric = structure.metric(places, given.patterns, l2)
    found = lowest(loss, begin, steps=steps, tolerance=tolerance, metric=metric)
    return Theta.views(found, structure.shapes)


def _picked(weights: NDArray[np.float32], numbers: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.append(weights, 0.0)[numbers].astype(np.float64)


def _walk(automaton: Automaton, labels: Iterable[int]) -> tuple[list[int], int]:
    """The edge that each label takes (-1: none), and the state at the end."""
    # The boundary is the largest symbol, and a state of its own.
    edges, state = [], int(np.argmax(automaton.last))
    for label in labels:
        edges.append(int(automaton.edge[state, label]))
        state = int(automaton.target[state, label])
    return edges, state


def _laid_out(automaton: Automaton, words: Sequence[tuple[int, ...]]) -> Words:
    """Words, ordered by length, with the edges that they take."""
    walks = [_walk(automaton, word) for word in words]
    lengths = np.array([len(word) for word in words], np.int64)
    longest = int(lengths.max(initial=0))
    return Words(
        np.array([label for word in words for label in word], np.int32),
        np.array([edge for edges, _ in walks for edge in edges], np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([last for _, last in walks], np.int32),
        np.searchsorted(lengths, np.arange(longest + 2)).astype(np.int64),
        np.zeros(len(words)),
    )
