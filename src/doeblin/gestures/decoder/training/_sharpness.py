"""How sure the full model may be, fitted on people whom it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...._errors import InputError
from ...data import Gesture
from .._decoder import Decoder
from .._given import gestures_of
from .._scores import log_normalised

_CHUNK = 64
_LEAST = 100
_GRID = np.exp(np.linspace(np.log(0.2), np.log(5.0), 161))


def fit_sharpness(decoder: Decoder, gestures: Sequence[Gesture], *more: Decoder) -> float:
    """The sharpness with which first guesses are right as often as their probabilities say.

    Take people whom the model has not seen: on those that it was trained on, it may be as sure as
    it is. Words of the lexicon that are not among the candidates count: the guess is wrong then,
    however sure. `more` are decoders of the same model with other lexicons, to be fitted together.
    """
    gestures, parts = gestures_of(gestures), []
    for one in (decoder, *more):
        known = [gesture for gesture in gestures if gesture.word in one.lexicon]
        for at in range(0, len(known), _CHUNK):
            some = known[at : at + _CHUNK]
            found = one.candidates(some)
            gold = np.array([[one.lexicon.index[gesture.word]] for gesture in some])
            parts.append((one.log_full(found), np.exp(found.log_u), found.ids == gold))
    if sum(meant.any(axis=1).sum() for *_, meant in parts) < _LEAST:
        raise InputError(f"fewer than {_LEAST} gestures have words that can be found: too few")
    full, u, meant = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    epsilon, rows = decoder.model.epsilon, np.arange(len(meant))

    def excess(factor: float) -> float:
        # What is normalised already can be sharpened all the same: constants do not matter.
        scores = np.where(np.isfinite(full), factor * np.where(np.isfinite(full), full, 0), -np.inf)
        chances = epsilon * u + (1 - epsilon) * np.exp(log_normalised(scores))
        first = chances.argmax(axis=1)
        return float(chances[rows, first].mean() - meant[rows, first].mean())

    values = [abs(excess(factor)) for factor in _GRID]
    return float(decoder.model.sharpness * _GRID[int(np.argmin(values))])
