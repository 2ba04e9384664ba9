"""Spelling words that no lexicon has: the best letter strings under u and the letter model."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ...data import Gesture
from ..restart import Trace, pack
from ._engine import spell

if TYPE_CHECKING:
    from .._decoder import Decoder

# Doubled letters are tried where the letter model finds them likelier than this.
_LIKELY_DOUBLE = 0.1
_MOST_DOUBLES = 3
_LONGEST = 32


def spellings(decoder: Decoder, gesture: Gesture, beam: int) -> list[tuple[str, float]]:
    """Spellings with log m(y) + log q(y), found by a beam search with exact look-ahead."""
    layout, packed = decoder.layout, pack([gesture], decoder.layout)
    keys = np.full((beam, _LONGEST), -1, np.int64)
    sizes = np.zeros(beam, np.int64)
    masses = np.full(beam, -np.inf)
    trace = Trace(packed.x, packed.y, packed.t)
    found = spell(trace, decoder.restart, decoder.extra(packed), keys, sizes, masses)
    words = []
    for k in range(found):
        merged = keys[k, : sizes[k]]
        before = np.concatenate([[len(layout.letters)], merged[:-1]])
        twice = decoder.letters.doubled[before, merged]
        places = np.argsort(-twice, kind="stable")[:_MOST_DOUBLES]
        places = [place for place in places if twice[place] > _LIKELY_DOUBLE]
        for choice in product((False, True), repeat=len(places)):
            runs = np.ones(len(merged), int)
            runs[[place for place, chosen in zip(places, choice, strict=True) if chosen]] = 2
            share = np.log(np.where(runs == 2, twice, 1 - twice)).sum()
            word = "".join(layout.letters[key] * run for key, run in zip(merged, runs, strict=True))
            words.append((word, float(masses[k] + share)))
    return words
