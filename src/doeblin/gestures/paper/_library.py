"""The paper's model out of the library's parts, in JAX: the same weights, wherever JAX runs.

u is a `LinearChainCRF`, A a `SequenceGibbs` or a `BlockKernel`, and the chain `doeblin(A, u, ε)`.
The places of the weights are those of `_features`, whose functions are used here on arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..._custom_types import Count, Scalar
from ...crf import (
    Alignments,
    LinearChainCRF,
    Potentials,
    RandomFraction,
    SequenceGibbs,
    log_weight,
)
from ...kernels import AbstractKernel, BlockKernel
from . import _features as features
from ._features import Dictionary

Labels = Int[Array, " places"]


class Weights(NamedTuple):
    """θ_0 of the restart u, and θ_1 of the full model, which extends u's features."""

    restart: Float[Array, " features"]
    full: Float[Array, " features"]


class Tables(NamedTuple):
    """A weight vector, by what the weights belong to."""

    label: Float[Array, "keys labels"]
    step: Float[Array, "keys befores labels"]
    """The last entry of `befores` is that of the first place."""
    pair: Float[Array, "keys keys_or_none labels"]
    letter: Float[Array, "keys letters letters_or_none"]
    prefix: Float[Array, " lengths"]
    """Of having so many letters, from 0, that are a prefix of a word: running sums."""
    word: Float[Array, "2"]

    @classmethod
    def of(cls, weights: Float[Array, " features"], num_keys: int, hard: bool) -> Tables:
        keys, labels = np.arange(num_keys), np.arange(num_labels(num_keys, hard))
        befores = np.append(labels, 2 * num_keys + 1)
        or_none = np.arange(num_keys + 1)

        def take(index: Any, *axes: np.ndarray) -> Array:
            return weights[index.py_func(num_keys, *np.ix_(*axes))]

        lengths = range(1, features.LONGEST_PREFIX + 1)
        prefixes = np.array([features.prefix_index.py_func(num_keys, m) for m in lengths])
        at = int(features.word_index(num_keys))
        return cls(
            take(features.label_index, keys, labels),
            take(features.step_index, keys, befores, labels),
            take(features.pair_index, keys, or_none, labels),
            take(features.letter_index, keys, keys, or_none),
            jnp.pad(jnp.cumsum(weights[prefixes]), (1, 0)),
            weights[at : at + 2],
        )

    def potentials(self, x: Int[Array, " places"], length: Count) -> Potentials:
        """The scores of labels and of neighbouring labels; -inf for what is forbidden."""
        num_keys = self.label.shape[0]
        possible = _possible(num_keys, self.label.shape[1])
        x_before = jnp.concatenate([jnp.full(1, num_keys, x.dtype), x[:-1]])
        unary = self.label[x] + self.pair[x, x_before]
        first = jnp.where(possible[-1], unary[0] + self.step[x[0], -1], -jnp.inf)
        steps = jnp.where(possible[:-1], self.step[x[1:], :-1], -jnp.inf)
        return Potentials(unary.at[0].set(first), steps, length)


def num_labels(num_keys: int, hard: bool) -> int:
    return 2 * num_keys + 1 if hard else num_keys + 1


def _possible(num_keys: int, labels: int) -> Bool[np.ndarray, "befores labels"]:
    """Which labels may follow which; the last row is that of the first place."""
    befores = [*range(labels), 2 * num_keys + 1]
    return np.array(
        [[features.allowed.py_func(num_keys, p, v) for v in range(labels)] for p in befores]
    )


def emissions(num_keys: int, hard: bool) -> Alignments:
    """The letter that each label starts, if any."""
    labels = range(num_labels(num_keys, hard))
    return Alignments([v - 1 if features.starts.py_func(num_keys, v) else -1 for v in labels])


class Trie(eqx.Module):
    """A dictionary whose every node has children: those that are no prefix lead to the last node.

    No word is longer than `depth`.
    """

    child: Int[Array, "nodes letters"]
    is_word: Bool[Array, " nodes"]
    frequency: Float[Array, " nodes"]
    depth: int = eqx.field(static=True)

    @classmethod
    def of(cls, dictionary: Dictionary) -> Trie:
        nodes, letters = dictionary.child.shape
        child = np.full((nodes + 1, letters), nodes, np.int32)
        child[:nodes] = np.where(dictionary.child < 0, nodes, dictionary.child)
        is_word = np.append(dictionary.word >= 0, False)
        frequency = np.zeros(nodes + 1, np.float32)
        frequency[:-1][is_word[:-1]] = dictionary.frequency[dictionary.word[is_word[:-1]]]
        depth = max(len(word) for word in dictionary.words)
        return cls(jnp.asarray(child), jnp.asarray(is_word), jnp.asarray(frequency), depth)

    def walk(self, node: Array, size: Array, letters: Array, moves: Array) -> tuple[Array, Array]:
        """From nodes on along those letters for which `moves`; also counts the prefixes met."""
        for k in range(letters.shape[0]):
            node = jnp.where(moves[k], self.child[node, letters[k]], node)
            size = size + (moves[k] & (node < self.child.shape[0] - 1))
        return node, size


class Scored(NamedTuple):
    """A gesture, with all scores that need no labels: what the chain is given."""

    base: Potentials
    """u's."""
    full: Potentials
    frozen: Potentials
    """u's at the weights where training began: what the block kernel proposes from."""
    keys: Int[Array, " places"]


class Spelled(NamedTuple):
    """The first letters of a labelling (one more than any word has), and the places they are at."""

    letters: Int[Array, " letters"]
    places: Int[Array, " letters"]
    exist: Bool[Array, " letters"]


class FullModel(eqx.Module):
    """log π̂(z | x) of the full model, and its conditionals."""

    tables: Tables
    trie: Trie
    emits: Int[Array, " labels"]

    def __call__(self, labels: Labels, x: Scored) -> Scalar:
        symbols = self.emits[labels]
        starts = symbols >= 0
        place = jnp.arange(labels.shape[0])
        latest = jax.lax.cummax(jnp.where(starts, place, -1))
        before = jnp.concatenate([jnp.full(1, -1, latest.dtype), latest[:-1]])
        previous = jnp.where(before >= 0, symbols[before], self._none)
        pairs = jnp.where(starts, self.tables.letter[x.keys, symbols, previous], 0).sum()
        spelled = self._spelled(symbols)
        node, size = self.trie.walk(jnp.array(0), jnp.array(0), spelled.letters, spelled.exist)
        return log_weight(x.full, labels) + pairs + self._dictionary(node, size)

    def conditional(self, labels: Labels, place: Count, x: Scored) -> Float[Array, " labels"]:
        """The log-density of each label at a place, up to a common constant.

        Labels emit one of K letters or nothing, so the dictionary is asked K + 1 times, and from
        the place on only.
        """
        last = labels.shape[0] - 1
        symbols = self.emits[labels].at[place].set(-1)
        spelled = self._spelled(symbols)
        earlier = spelled.exist & (spelled.places < place)
        later = spelled.exist & (spelled.places > place)
        node, size = self.trie.walk(jnp.array(0), jnp.array(0), spelled.letters, earlier)
        child = self.trie.child[node]
        nodes = jnp.append(node, child)
        sizes = jnp.append(size, size + (child < self.trie.child.shape[0] - 1))
        shared = self._dictionary(*self.trie.walk(nodes, sizes, spelled.letters, later))

        everywhere = jnp.arange(labels.shape[0])
        starts = symbols >= 0
        before = jnp.max(jnp.where(starts & (everywhere < place), everywhere, -1))
        previous = jnp.where(before >= 0, symbols[before], self._none)
        after = jnp.min(jnp.where(starts & (everywhere > place), everywhere, last + 1))
        next_place = jnp.minimum(after, last)
        follows = self.tables.letter[x.keys[next_place], symbols[next_place]]
        follows = jnp.append(follows[previous], follows[:-1])
        shared += jnp.where(after <= last, follows, 0)
        shared = shared.at[1:].add(self.tables.letter[x.keys[place], :, previous])

        came = x.full.pairwise[jnp.maximum(place - 1, 0), labels[place - 1]]
        goes = x.full.pairwise[
            jnp.minimum(place, last - 1), :, labels[jnp.minimum(place + 1, last)]
        ]
        return (
            x.full.unary[place]
            + jnp.where(place > 0, came, 0)
            + jnp.where(place + 1 < x.full.length, goes, 0)
            + shared[self.emits + 1]
        )

    @property
    def _none(self) -> int:
        """What stands for the letter before the first one."""
        return self.tables.letter.shape[0]

    def _spelled(self, symbols: Int[Array, " places"]) -> Spelled:
        # By counting and not by scattering, which is slow where many chains run side by side.
        count = jnp.cumsum(symbols >= 0)
        wanted = jnp.arange(self.trie.depth + 1)
        places = jnp.sum(count[None] <= wanted[:, None], axis=1)
        exist = places < symbols.shape[0]
        return Spelled(symbols[jnp.minimum(places, symbols.shape[0] - 1)], places, exist)

    def _dictionary(self, node: Array, size: Array) -> Array:
        prefixes = self.tables.prefix[jnp.minimum(size, self.tables.prefix.shape[0] - 1)]
        word = self.tables.word[0] + self.tables.word[1] * self.trie.frequency[node]
        return prefixes + jnp.where(self.trie.is_word[node], word, 0)


def scored(
    weights: Weights,
    frozen: Float[Array, " features"],
    x: Int[Array, " places"],
    length: Count,
    num_keys: int,
    hard: bool,
) -> Scored:
    def potentials(weights: Array) -> Potentials:
        return Tables.of(weights, num_keys, hard).potentials(x, length)

    return Scored(
        potentials(weights.restart).normalised(),
        potentials(weights.full),
        potentials(frozen).summed(),
        x,
    )


def kernel(weights: Weights, trie: Trie, hard: bool, proposals: int) -> AbstractKernel:
    """Single-site Gibbs in the full model, or with `proposals` > 0 the block kernel."""
    num_keys = trie.child.shape[1]
    emits = emissions(num_keys, hard).emits
    density = FullModel(Tables.of(weights.full, num_keys, hard), trie, emits)
    if not proposals:
        return SequenceGibbs(density, num_labels(num_keys, hard), _length, density.conditional)
    return BlockKernel(
        LinearChainCRF(_frozen), density, num_proposals=proposals, choose_block=RandomFraction()
    )


def _base(x: Scored) -> Potentials:
    return x.base


def _frozen(x: Scored) -> Potentials:
    return x.frozen


def _length(x: Scored) -> Count:
    return x.full.length


RESTART = LinearChainCRF(_base)
