"""How often an open vocabulary lacks the word, fitted on people whom the model has not seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...data import Gesture
from .._decoder import Decoder
from .._doubt import MOST, Doubt, log_odds
from ..restart import Floats
from ._copies import meant

_CHUNK = 64
_LEAST = 20
# Of Newton's method; where words tell all apart, numbers would grow for ever.
_STEPS, _LONGEST_STEP, _RIDGE = 50, 2.0, 1e-6
_GRID = np.exp(np.linspace(np.log(0.5), np.log(2.0), 81))


def fit_doubt(decoder: Decoder, gestures: Sequence[Gesture]) -> Doubt | None:
    """The doubt under which what people meant is likeliest, be it a candidate or none.

    None where fewer than 20 words are missing, or found: too few to tell how often that is.
    """
    wide, parts = decoder.opened, []
    for at in range(0, len(gestures), _CHUNK):
        some = gestures[at : at + _CHUNK]
        found = wide.candidates(some, open_vocabulary=True)
        parts.append((wide.log_full(found), np.exp(found.log_u), meant(wide, some, found)))
    # log full, u and the hits of all, padded as they are where there is no candidate.
    full, u, hits = (
        _stacked(some, fill)
        for some, fill in zip(zip(*parts, strict=True), (-np.inf, 0.0, False), strict=True)
    )
    there = np.asarray(hits.any(axis=1))
    if min(there.sum(), (~there).sum()) < _LEAST:
        return None
    base, slope = _logistic(log_odds(full), ~there)
    epsilon = decoder.model.epsilon

    def likelihood(sharpness: float) -> float:
        doubt = Doubt(sharpness, base, slope)
        chances = epsilon * u + (1 - epsilon) * np.exp(doubt.after(full))
        return float(np.log(np.maximum((chances * hits).sum(axis=1)[there], 1e-300)).sum())

    return Doubt(float(_GRID[int(np.argmax([likelihood(one) for one in _GRID]))]), base, slope)


def _stacked(parts: Sequence[NDArray], fill: float) -> NDArray:
    """Rows of parts that have different numbers of candidates."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=fill) for part in parts]
    )


def _logistic(x: Floats, happened: NDArray[np.bool_]) -> tuple[float, float]:
    """Base and slope of the log-odds, by Newton's method."""
    inputs, found = np.stack([np.ones_like(x), x], axis=1), np.zeros(2)
    for _ in range(_STEPS):
        chance = np.exp(-np.logaddexp(0.0, -(inputs @ found)))
        bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + _RIDGE * np.eye(2)
        step = np.linalg.solve(bend, inputs.T @ (happened - chance) - _RIDGE * found)
        found += step * min(1.0, _LONGEST_STEP / max(np.abs(step).max(), _RIDGE))
    base, slope = np.clip(found, -MOST, MOST)
    return float(base), float(slope)
