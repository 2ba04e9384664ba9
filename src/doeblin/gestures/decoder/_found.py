"""What the engines fill."""

from __future__ import annotations

from typing import NamedTuple

from .restart import Floats, Ints

# How much less is pruned where the first walk found no word worth having.
EASE = 1e-6


class Found(NamedTuple):
    """What `candidates` fills: a row for each trace, with room for the best words."""

    ids: Ints
    scores: Floats
    totals: Floats
    """The logs of the sums over the lexicon and over all spellings."""
    counts: Ints
    """How many words were found, and how many nodes of the trie were kept."""
    features: Floats
    """The features of each word, if there is room for them."""
    hits: Ints
    """The frames in which a word's letters are hit, if there is room for them."""


class Judged(NamedTuple):
    """What `judge` fills, as `candidates` does for the lexicon's words."""

    ids: Ints
    scores: Floats
    features: Floats
    hits: Ints
