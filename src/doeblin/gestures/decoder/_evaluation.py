"""How good a decoder is, on gestures whose words are known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._fleet import Fleet, finished
from .._distance import changes
from ..data import Gesture
from ._decoder import Decoder, Guess
from ._given import gestures_of

_BINS = 15
_CHUNK = 64
_PART = 16 * _CHUNK
"""Gestures that a worker is given at a time: they have about as many bytes as the decoder."""


def edit_distance(a: str, b: str) -> int:
    """Insertions, deletions and substitutions from a to b.

    >>> edit_distance("banana", "bandana")
    1
    """
    return changes(a, b, list(range(len(b) + 1)))


def character_accuracy(guess: str, word: str) -> float:
    """1 - edit distance / length of the longer one.

    >>> character_accuracy("band", "banana")
    0.5
    """
    longer = max(len(guess), len(word))
    return 1 - edit_distance(guess, word) / longer if longer else 1.0


def calibration_error(
    confidence: NDArray[np.float64], correct: NDArray, bins: int = _BINS
) -> float:
    """Expected calibration error: |confidence - accuracy|, averaged over bins of confidence."""
    if not len(confidence):
        return float("nan")
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    error = 0.0
    for one in range(bins):
        inside = place == one
        if inside.any():
            error += inside.mean() * abs(confidence[inside].mean() - correct[inside].mean())
    return float(error)


def evaluate(
    decoder: Decoder,
    gestures: Sequence[Gesture],
    *,
    draws: int | None = None,
    open_vocabulary: bool = False,
    seed: int = 0,
    fleet: Fleet | None = None,
) -> dict[str, Any]:
    """Accuracy, calibration and cost, in all and by group; ready for JSON.

    `top1` and `top4` are percentages. Words out of the lexicon count as wrong in `all` unless they
    are spelled. `ms_per_word` is processor time of the thread that decodes. The same gestures give
    the same guesses, however many workers the `fleet` has.
    """
    known = [gesture for gesture in gestures_of(gestures) if gesture.word]
    if not known:
        raise InputError("no gesture has a word to compare with")
    options = {"draws": draws, "open_vocabulary": open_vocabulary, "seed": seed}
    parts = [known[at : at + _PART] for at in range(0, len(known), _PART)]
    found: dict[int, tuple[list[list[Guess]], float]] = {}
    for index, answer in finished(fleet, partial(_decoded, decoder, options), parts):
        found[index] = answer
    guesses = [row for index in range(len(parts)) for row in found[index][0]]
    spent = sum(seconds for _, seconds in found.values())
    rank = np.array(
        [
            next((k for k, guess in enumerate(row) if guess.word == gesture.word), 9)
            for row, gesture in zip(guesses, known, strict=True)
        ]
    )
    sure = np.array([row[0].probability if row else 0.0 for row in guesses])
    letters = np.array(
        [
            character_accuracy(row[0].word if row else "", gesture.word)
            for row, gesture in zip(guesses, known, strict=True)
        ]
    )
    inside = np.array([gesture.word in decoder.lexicon for gesture in known])
    lengths = np.array([len(gesture.word) for gesture in known])

    def summary(mask: NDArray) -> dict[str, Any]:
        if not mask.any():
            return {"words": 0}
        return {
            "words": int(mask.sum()),
            "top1": float(100 * (rank[mask] == 0).mean()),
            "top4": float(100 * (rank[mask] < 4).mean()),
            "characters": float(100 * letters[mask].mean()),
            "calibration_error": calibration_error(np.clip(sure[mask], 0, 1), rank[mask] == 0),
        }

    report: dict[str, Any] = {
        "lexicon_size": len(decoder.lexicon),
        "all": summary(np.ones(len(known), bool)),
        "in_vocabulary": summary(inside),
        "out_of_vocabulary": summary(~inside),
        "by_length": {
            str(length): summary(inside & (lengths == length)) for length in np.unique(lengths)
        },
        "ms_per_word": 1000 * spent / len(known),
    }
    users = np.array([gesture.user for gesture in known])
    each = [
        100 * (rank[inside & (users == user)] == 0).mean()
        for user in np.unique(users)
        if (inside & (users == user)).sum() >= 5
    ]
    if len(each) > 1:
        levels = (10, 25, 50, 75, 90)
        values = np.percentile(each, levels)
        report["users"] = {
            "count": len(each),
            "top1_percentiles": {str(k): float(v) for k, v in zip(levels, values, strict=True)},
        }
    return report


def _decoded(
    decoder: Decoder, options: dict[str, Any], gestures: list[Gesture]
) -> tuple[list[list[Guess]], float]:
    """The guesses for one part of the gestures, and the seconds that it took."""
    decoder.decode(gestures[:1], **options)  # compiled code is loaded before the clock starts
    guesses: list[list[Guess]] = []
    start = time.thread_time()
    for at in range(0, len(gestures), _CHUNK):
        guesses += decoder.decode(gestures[at : at + _CHUNK], top=4, **options)
    return guesses, time.thread_time() - start
