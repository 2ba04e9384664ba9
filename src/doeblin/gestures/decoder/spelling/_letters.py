"""How much words look like words, by their letters: what A's network of words sees of it.

Bigrams weigh the search for words out of a lexicon, and words by a power of their frequencies. The
trigrams here count each word of the lexicon once, which is nearer to names and rare words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..restart import Floats
from ..words import Words
from ._spelling import log_letters

if TYPE_CHECKING:
    from .._decoder import Decoder

# log q by bigrams and by trigrams, and whether the lexicon does not have the word.
NUM_LETTERS = 3
# Trigrams count beside so many drawn by the bigram, and these beside a half of each.
_STRENGTH, _LEAST = 10.0, 0.5


class Trigrams(NamedTuple):
    """The chance of a key, or of the end, after the last two; the last key number is neither.

    Most pairs of keys of a large layout follow each other nowhere: they have no row of their own.
    """

    rows: NDArray[np.int64]
    """Where the last two are in `seen`, or -1."""
    seen: Floats
    pairs: Floats
    """The chance after the last one, for pairs that were not seen."""

    def chances(self, before: NDArray, last: NDArray, key: NDArray) -> Floats:
        row = self.rows[before, last]
        return np.where(row >= 0, self.seen[row, key], self.pairs[last, key])


def count_trigrams(words: Words, num_keys: int) -> Trigrams:
    """The trigrams of some words, each of which counts once."""
    before, last, key = _triples(words, num_keys)
    size = num_keys + 1
    pairs = _counted(last, key, size, size) + _LEAST
    # No letter follows itself: runs are merged. No word is empty.
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum(axis=1, keepdims=True)
    there = np.argwhere(_counted(before, last, size, size))
    rows = np.full((size, size), -1)
    rows[there[:, 0], there[:, 1]] = np.arange(len(there))
    triples = _counted(rows[before, last], key, len(there), size)
    weighed = triples + _STRENGTH * pairs[there[:, 1]]
    return Trigrams(rows, weighed / (triples.sum(axis=1, keepdims=True) + _STRENGTH), pairs)


def _counted(first: NDArray, second: NDArray, rows: int, columns: int) -> Floats:
    """How often each pair of numbers is there."""
    flat = np.bincount(columns * first + second, minlength=rows * columns)
    return flat.reshape(rows, columns).astype(float)


def _triples(words: Words, num_keys: int) -> tuple[NDArray, NDArray, NDArray]:
    """Each key of each word and its end, with the two before it. No word may be empty."""
    sizes = np.diff(words.starts)
    ends = np.cumsum(sizes + 1) - 1
    key = np.insert(words.keys, words.starts[1:], num_keys)
    last, before = np.roll(key, 1), np.roll(key, 2)
    first = ends - sizes
    last[first] = before[first] = before[first + 1] = num_keys
    return before, last, key


def lexicon_letters(decoder: Decoder) -> tuple[Trigrams, Floats]:
    """The trigrams of a decoder's lexicon, and both log q of each of its words."""
    words = decoder.words
    spelt = np.diff(words.starts) > 0
    starts = np.append(words.starts[:-1][spelt], len(words.keys))
    known = Words(words.keys, starts, words.doubled[spelt])
    twice = known.keys == np.repeat(known.doubled, np.diff(starts))
    after = np.cumsum(twice)
    # The first of the keys that is the doubled one.
    index = np.searchsorted(after, after[starts[:-1]] - twice[starts[:-1]] + 1)
    places = np.where(known.doubled >= 0, index - starts[:-1], -1)
    trigrams = count_trigrams(known, len(decoder.layout.letters))
    found = np.zeros((len(spelt), 2))
    found[spelt] = both_letters(decoder, trigrams, known, places)
    return trigrams, found


def both_letters(
    decoder: Decoder, trigrams: Trigrams, words: Words, places: NDArray[np.int64]
) -> Floats:
    """log q of words by bigrams and by trigrams; of their keys, that at `places` counts twice."""
    by_pairs = log_letters(decoder, words, places)
    if not len(places):
        return np.empty((0, 2))
    before, last, key = _triples(words, len(trigrams.pairs) - 1)
    first = words.starts[:-1] + np.arange(len(places))
    steps = np.add.reduceat(np.log(trigrams.chances(before, last, key)), first)
    # What doubled letters cost is the same by both.
    bigrams = decoder.letters.bigrams
    pairs = np.add.reduceat(np.log(bigrams[last, key]), first)
    return np.stack([by_pairs, steps + by_pairs - pairs], axis=1)


def letter_inputs(
    decoder: Decoder, ids: NDArray[np.int64], words: Words | None, places: NDArray[np.int64]
) -> Floats:
    """What the network sees of candidates' letters; ids after the lexicon's are of `words`."""
    trigrams, table = decoder.lexicon_letters
    if words is not None and len(places):
        table = np.concatenate([table, both_letters(decoder, trigrams, words, places)])
    found, there = np.zeros((*ids.shape, NUM_LETTERS)), ids >= 0
    found[there, :2] = table[ids[there]]
    found[..., 2] = ids >= len(decoder.lexicon)
    return found
