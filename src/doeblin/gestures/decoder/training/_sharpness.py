"""How sure the full model may be, fitted on people whom it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...._errors import InputError
from ...data import Gesture
from .._decoder import Decoder, log_normalised

_CHUNK = 64
_LEAST = 100
_GRID = np.exp(np.linspace(np.log(0.2), np.log(5.0), 161))


def fit_sharpness(decoder: Decoder, gestures: Sequence[Gesture]) -> float:
    """The sharpness under which the true words are likeliest.

    Take people whom the model has not seen: on those that it was trained on, it may be as sure as
    it is. Words that are not among the candidates say nothing about it and are left out.
    """
    known = [gesture for gesture in gestures if gesture.word in decoder.lexicon]
    parts = []
    for at in range(0, len(known), _CHUNK):
        some = known[at : at + _CHUNK]
        found = decoder.candidates(some)
        gold = np.array([[decoder.lexicon.index[gesture.word]] for gesture in some])
        parts.append((decoder.log_full(found), np.exp(found.log_u), found.ids == gold))
    if sum(meant.any(axis=1).sum() for *_, meant in parts) < _LEAST:
        raise InputError(f"fewer than {_LEAST} gestures have words that can be found: too few")
    full, u, meant = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    full, u, meant = (array[meant.any(axis=1)] for array in (full, u, meant))
    epsilon = decoder.model.epsilon

    def likelihood(factor: float) -> float:
        # What is normalised already can be sharpened all the same: constants do not matter.
        scores = np.where(np.isfinite(full), factor * np.where(np.isfinite(full), full, 0), -np.inf)
        chances = epsilon * u + (1 - epsilon) * np.exp(log_normalised(scores))
        return float(np.log((chances * meant).sum(axis=1)).mean())

    values = [likelihood(factor) for factor in _GRID]
    return float(decoder.model.sharpness * _GRID[int(np.argmax(values))])
