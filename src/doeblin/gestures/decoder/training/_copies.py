"""What A's networks are trained on: the gestures, moved and bent a little, and made-up ones.

Each copy of the gestures is decoded anew. Copies take turns: one has the whole lexicon and words
out of it, rare and spelled ones, as candidates; the next has the commonest fifth of the lexicon,
and beside the people's gestures some that are made up, on a keyboard whose letters were shuffled.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Generator, Gesture, Layout, Lexicon
from .._decoder import Decoder
from .._found import Candidates
from ..reading import spread, traced
from ..restart import Packed, pack
from ..words import Words, stroke_rows
from ._factors import Judged

# Copies, the first of them as people swiped; the lexicon's share in every other one.
COPIES, _SHARE = 6, 5
# Made-up gestures for so many real ones, and of words drawn by frequency to this power.
_REAL_TO_MADE, _POWER = 12, 0.5
# Standard deviations of what a copy changes: shift, stretch, slant and shakes, in key widths and
# heights, and the pace. A shake lasts so many milliseconds.
_SHIFT, _STRETCH, _SLANT, _SHAKES, _PACE = (0.07, 0.05), 0.04, 0.04, (0.06, 0.04), 0.15
_SHAKE_TIME = 200.0
# Gestures that a thread prepares at a time; and the keys of a word that the reader is taught.
_CHUNK, _LONGEST = 500, 24


class Strokes(NamedTuple):
    """The strokes of all candidates of some gestures: one row a letter."""

    rows: NDArray[np.floating]
    candidates: NDArray[np.int64]
    """Which candidate of its gesture a row is of; those of a candidate are neighbours."""
    starts: NDArray[np.int64]
    """`starts[e] : starts[e + 1]` are the rows of gesture e."""

    def chosen(self, some: NDArray[np.int64], keep: int, bucket: int) -> tuple[NDArray, NDArray]:
        """Where the rows of some gestures are, padded, and the candidate of each, numbered on."""
        sizes = np.diff(self.starts)[some]
        before = np.cumsum(sizes) - sizes
        at = np.repeat(self.starts[some] - before, sizes) + np.arange(sizes.sum())
        padded = -(-len(at) // bucket) * bucket
        where = np.zeros(padded, np.int32)
        where[: len(at)] = at
        # Padding belongs to a candidate after the last.
        owners = np.full(padded, len(some) * keep, np.int32)
        owners[: len(at)] = self.candidates[at] + keep * np.repeat(np.arange(len(some)), sizes)
        return where, owners


class Traces(NamedTuple):
    """What the reader sees of some gestures, and the keys of their candidates, padded with 0."""

    places: NDArray
    seconds: NDArray
    keys: NDArray
    sizes: NDArray


class Copy(NamedTuple):
    """Gestures whose words are among their candidates; letters come after the features."""

    judged: Judged
    strokes: Strokes
    traces: Traces


def meant(decoder: Decoder, gestures: Sequence[Gesture], found: Candidates) -> NDArray[np.bool_]:
    """Which candidate is the true word, in the lexicon or out of it."""
    gold = np.array([decoder.lexicon.index.get(gesture.word, -2) for gesture in gestures])
    hits = found.ids == gold[:, None]
    size = len(decoder.lexicon)
    for row in np.flatnonzero(gold < 0).tolist() if len(found.spelled) else ():
        own = found.ids[row] >= size
        hits[row, own] = found.spelled[found.ids[row, own] - size] == gestures[row].word
    return hits


def make_copy(decoder: Decoder, gestures: Sequence[Gesture], *, opened: bool) -> Copy:
    """The gestures' candidates, judged; with spelled ones if `opened`."""

    def part(at: int) -> Copy:
        some = gestures[at : at + _CHUNK]
        found = decoder.candidates(some, align=True, open_vocabulary=opened, letters=True)
        hits = meant(decoder, some, found)
        rows = np.flatnonzero(hits.any(axis=1)).tolist()
        words = decoder.words
        if opened:
            words = _joined(words, Words.of(decoder.layout, found.spelled.tolist()))
        packed = pack([some[row] for row in rows], decoder.layout)
        strokes, owners = stroke_rows(
            packed, decoder.restart, words, found.ids[rows], found.hits[rows]
        )
        seen = np.concatenate([found.features[rows], found.letters[rows]], axis=-1)
        judged = Judged(
            seen.astype(np.float32), found.ids[rows] >= 0,
            np.exp(found.log_u[rows]), hits[rows].argmax(axis=1),
        )  # fmt: skip
        of_gesture, candidates = np.divmod(owners, judged.valid.shape[1])
        starts = np.searchsorted(of_gesture, np.arange(len(rows) + 1))
        return Copy(
            judged, Strokes(strokes.astype(np.float16), candidates, starts),
            _traces(packed, words, found.ids[rows]),
        )  # fmt: skip

    part(0)  # Compiled, and the words laid out, before the threads start.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return _together(list(pool.map(part, range(0, len(gestures), _CHUNK))))


def _joined(words: Words, more: Words) -> Words:
    starts = np.concatenate([words.starts, more.starts[1:] + words.starts[-1]])
    keys, doubled = (np.concatenate([words[k], more[k]]) for k in (0, 2))
    return Words(keys, starts, doubled)


def _traces(packed: Packed, words: Words, ids: NDArray[np.int64]) -> Traces:
    keys, sizes = spread(words, ids)
    keys = np.pad(keys, ((0, 0), (0, 0), (0, _LONGEST)))[..., :_LONGEST]
    places, seconds = traced(packed)
    return Traces(
        places.astype(np.float32), seconds.astype(np.float32), keys.astype(np.int16),
        np.minimum(sizes, _LONGEST).astype(np.int16),
    )  # fmt: skip


def _together(parts: Sequence[Copy]) -> Copy:
    """One copy of several."""
    judged, strokes, traces = zip(*parts, strict=True)
    rows, candidates, starts = zip(*strokes, strict=True)
    before = np.cumsum([0, *map(len, rows)])
    starts = [
        starts[0][:1],
        *(one[1:] + more for one, more in zip(starts, before[:-1], strict=True)),
    ]
    return Copy(
        Judged(*map(np.concatenate, zip(*judged, strict=True))),
        Strokes(*map(np.concatenate, (rows, candidates, starts))),
        Traces(*map(np.concatenate, zip(*traces, strict=True))),
    )


def commonest(lexicon: Lexicon) -> Lexicon:
    """The words that every other copy has as candidates."""
    return lexicon.top(max(1, len(lexicon) // _SHARE))


def make_copies(decoder: Decoder, gestures: Sequence[Gesture], seed: int) -> list[Copy]:
    """The copies that the networks are trained on, in turns."""
    lexicon, model, factors = decoder.lexicon, decoder.model, decoder.factors
    small = commonest(lexicon)
    common = Decoder(model, small, factors=factors)
    copies = []
    for number in range(COPIES):
        rng = np.random.default_rng([seed, 9, number])
        some = [moved(gesture, decoder.layout, rng) for gesture in gestures] if number else gestures
        if number % 2 == 0:
            copies.append(make_copy(decoder.opened, some, opened=True))
            continue
        copy = make_copy(common, some, opened=False)
        elsewhere = shuffled(decoder.layout, rng)
        count = max(1, len(gestures) // _REAL_TO_MADE)
        made = list(Generator(elsewhere).sample(small, count, seed + number, power=_POWER))
        other = make_copy(
            Decoder(model, small, layout=elsewhere, factors=factors), made, opened=False
        )
        copies.append(_together([copy, other]))
    return copies


def moved(gesture: Gesture, layout: Layout, rng: np.random.Generator) -> Gesture:
    """The gesture shifted, stretched, slanted, shaken and at another pace, by a little each."""
    across, down, slant, pace = rng.standard_normal(4)
    shift = _SHIFT * rng.standard_normal(2)
    middle_x, middle_y = layout.centres.mean(axis=0)
    x, y, t = gesture.x - middle_x, gesture.y - middle_y, gesture.t
    knots = np.linspace(t[0], t[-1] + 1e-6, int((t[-1] - t[0]) / _SHAKE_TIME) + 3)
    shakes = [size * np.interp(t, knots, rng.standard_normal(len(knots))) for size in _SHAKES]
    x = np.exp(_STRETCH * across) * x + _SLANT * slant * layout.aspect * y
    y = np.exp(_STRETCH * down) * y
    return replace(
        gesture,
        x=middle_x + shift[0] + x + shakes[0],
        y=middle_y + shift[1] + y + shakes[1],
        t=t * np.exp(_PACE * pace),
    )


def shuffled(layout: Layout, rng: np.random.Generator) -> Layout:
    """The same keys with other letters on them."""
    letters = "".join(rng.permutation(list(layout.letters)))
    return replace(layout, name="shuffled", letters=letters)
