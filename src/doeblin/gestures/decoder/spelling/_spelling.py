"""Words that no lexicon has, as candidates: the best letter strings under u and the letter model.

Such a word is judged by u and by A as those of the lexicon are, with the letter model's probability
in the place of a frequency, times one number for all (`Model.openness`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._found import Judged
from ..restart import DOUBLE, PRIOR, Floats, Packed
from ..words import NUM_FEATURES, NUM_SHIFTS, Words

if TYPE_CHECKING:
    from .._decoder import Decoder

# How many strings a trace is given, how many prefixes go on at each length, and the most letters.
_ROOM, _BEAM, _LONGEST = 12, 16, 24


class Spelt(NamedTuple):
    """What `spell` fills: a row for each trace, with room for the best strings."""

    keys: NDArray[np.int64]
    """Keys with runs merged, then -1."""
    sizes: NDArray[np.int64]
    doubled: NDArray[np.int64]
    """Which of the keys stands for two, or -1."""
    weights: Floats
    """log m + log q, without the scale of m; -inf where there is no string."""


class Spellings(NamedTuple):
    """Strings out of the lexicon for some traces, as candidates."""

    texts: list[str]
    words: Words
    found: Judged
    places: NDArray[np.int64]
    """Which of a word's keys stands for two, or -1."""


def spellings(decoder: Decoder, packed: Packed, *, plain: bool = False) -> Spellings:
    """The best strings for each trace; `found.scores` are log m and the word's own weight."""
    if plain:
        from .._plain import judge
        from ._plain import spell
    else:
        from ._engine import judge, spell
    count, layout, tree = len(packed.starts) - 1, decoder.layout, decoder.tree
    spelt = Spelt(
        np.full((count, _ROOM, _LONGEST), -1, np.int64),
        np.zeros((count, _ROOM), np.int64),
        np.full((count, _ROOM), -1, np.int64),
        np.full((count, _ROOM), -np.inf),
    )
    extra, restart = decoder.extra(packed, plain=plain), decoder.restart
    spell(packed, restart, extra, tree, decoder.words, decoder.letters.doubled, _BEAM, spelt)
    there = spelt.sizes > 0
    keys, sizes, places = spelt.keys[there], spelt.sizes[there], spelt.doubled[there]
    merged = keys[np.arange(_LONGEST) < sizes[:, None]]
    twice = np.where(places >= 0, keys[np.arange(len(keys)), places], -1)
    words = Words(merged, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), twice)
    texts = []
    for row, size, place in zip(keys.tolist(), sizes.tolist(), places.tolist(), strict=True):
        letters = [layout.letters[key] for key in row[:size]]
        if place >= 0:
            letters[place] *= 2
        texts.append("".join(letters))
    frequency = decoder.model.openness + log_letters(decoder, words, places)
    ids = np.full((count, _ROOM), -1, np.int64)
    ids[there] = np.arange(len(texts))
    found = Judged(
        ids,
        np.full((count, _ROOM), -np.inf),
        np.zeros((count, _ROOM, NUM_FEATURES + NUM_SHIFTS)),
        np.full((count, _ROOM, _LONGEST), -1, np.int64),
    )
    own = tree._replace(log_frequency=frequency, doubles=(places >= 0).astype(float))
    judge(packed, restart, extra, own, words, found)
    weights = restart.weights
    found.scores[there] += weights[PRIOR] * frequency + weights[DOUBLE] * (places >= 0)
    return Spellings(texts, words, found, places)


def log_letters(decoder: Decoder, words: Words, places: NDArray[np.int64]) -> Floats:
    """log q of words by their merged keys, of which one may stand for two."""
    bigrams, doubled = decoder.letters.bigrams, decoder.letters.doubled
    end = len(bigrams) - 1
    total = np.zeros(len(places))
    if not len(places):
        return total
    first = words.starts[:-1]
    before = np.concatenate([[end], words.keys[:-1]])
    before[first] = end
    twice = doubled[before, words.keys]
    each = np.log(bigrams[before, words.keys]) + np.log(1 - twice)
    total = np.add.reduceat(each, first) + np.log(bigrams[words.keys[words.starts[1:] - 1], end])
    at = first + np.maximum(places, 0)
    return total + np.where(places >= 0, np.log(twice[at]) - np.log(1 - twice[at]), 0.0)
