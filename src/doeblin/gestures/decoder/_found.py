"""What the engines fill, and the candidates that are made of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class Candidates(NamedTuple):
    """The best words of each gesture under u; padded with id -1 and weight -inf."""

    ids: NDArray[np.int64]
    log_u: Floats
    """log u(word | trace), normalised over the candidates."""
    features: Floats
    log_lexicon: Floats
    """The log of u's mass of the whole lexicon (of what was walked of it)."""
    nodes: NDArray[np.int64]
    hits: NDArray[np.int64]
    """The frames in which a word's letters are hit in its best alignment, if asked for."""
    strokes: Floats
    """What the model's network of strokes, if any, says of each word: a sum over its letters."""
    reading: Floats
    """What the model's reader, if any, says of each word: one number."""
    shifts: Floats
    """How the trace lies beside each word's ideal path; see `SHIFTS`."""
    spelled: NDArray[np.str_]
    """Words out of the lexicon, if asked for: their ids go on after the lexicon's."""
    letters: Floats
    """How much each word looks like one, if the model's network of words sees it."""
