"""A letter-bigram model counted from the lexicon: the look-ahead's, and that of open spelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._trie import Trie, WordKeys, merged_keys

_SMOOTHING = 0.02
# Words count by a power of their frequency between one each (0) and one for each use (1).
_POWER = 0.5


class Spelling(NamedTuple):
    """How the letter model counts beside u: a power of its probabilities, and a cost a letter.

    u alone was trained to tell the lexicon's words apart, and would hit a letter at every turn.
    """

    power: float = 1.0
    cost: float = 1.0


@dataclass(frozen=True, eq=False)
class Letters:
    """Probabilities of the next letter, merged letters apart, and of a letter being doubled.

    Row K of `bigrams` is for the first letter, column K for the end. `doubled[p, c]` is the
    probability that c, coming after p, stands for two of them.
    """

    bigrams: NDArray[np.float64]
    doubled: NDArray[np.float64]

    @classmethod
    def count(cls, trie: Trie) -> Letters:
        """From the words of a trie."""
        layout, num_keys = trie.layout, len(trie.layout.letters)
        bigrams = np.zeros((num_keys + 1, num_keys + 1))
        doubled = np.zeros((num_keys + 1, num_keys))
        shares = np.exp(_POWER * trie.lexicon.log_frequencies)
        # In the order of the trie's words, so that sums are rounded the same on every machine.
        words = [trie.lexicon.words[word] for word in trie.words.tolist()]
        spelt = WordKeys.by(layout, words)
        ends, owner = np.cumsum(spelt.sizes) - 1, spelt.owner
        before = np.roll(spelt.keys, 1)
        before[ends - spelt.sizes + 1] = num_keys
        each = shares[trie.words]
        share = each[owner]
        np.add.at(bigrams, (before, spelt.keys), share)
        np.add.at(doubled, (before, spelt.keys), share * (spelt.runs > 1))
        np.add.at(bigrams[:, num_keys], spelt.keys[ends], each)
        seen = bigrams[:, :num_keys].copy()
        bigrams += _SMOOTHING * bigrams.sum(axis=1, keepdims=True) / num_keys + 1e-12
        # No letter follows itself: runs are merged. No word is empty.
        np.fill_diagonal(bigrams[:num_keys, :num_keys], 0.0)
        bigrams[num_keys, num_keys] = 0.0
        bigrams /= bigrams.sum(axis=1, keepdims=True)
        overall = doubled.sum(axis=0) / np.maximum(seen.sum(axis=0), 1e-12)
        weight = _SMOOTHING * shares[trie.words].sum()
        return cls(bigrams, (doubled + weight * overall + 1e-12) / (seen + weight + 1e-9))

    def weights(self, spelling: Spelling) -> NDArray[np.float64]:
        """The bigrams as weights of letters in the look-ahead and in open spelling."""
        weights = self.bigrams**spelling.power
        weights[:, :-1] *= np.exp(-spelling.cost)
        return weights

    def log_weight(self, trie: Trie, word: str, spelling: Spelling) -> float:
        """The log-weight of a word's letters. Runs of three or more count as doubles."""
        weights = self.weights(spelling)
        keys = merged_keys(trie.layout, word)
        full = trie.layout.encode(word)
        runs = np.diff(np.flatnonzero(np.diff(full, prepend=-1)), append=len(full))
        previous, total = len(weights) - 1, 0.0
        for key, length in zip(keys, runs, strict=True):
            twice = self.doubled[previous, key]
            total += np.log(weights[previous, key])
            total += np.log(twice if length > 1 else 1 - twice)
            previous = key
        return float(total + np.log(weights[previous, -1]))
