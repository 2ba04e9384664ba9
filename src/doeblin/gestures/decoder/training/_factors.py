"""Fitting the word-level factors: likelihood under π̃ of the true words among the candidates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._tensors import LEAST_SPREAD
from ._adam import Adam

Floats = NDArray[np.float64]
_LEAST_EPSILON, _MOST_EPSILON = 0.02, 0.5


class Judged(NamedTuple):
    """Candidates of gestures whose words are known, and are among them."""

    features: NDArray[np.floating]
    valid: NDArray
    """Which are candidates, and not padding."""
    u: Floats
    gold: NDArray
    """Which is the true word."""


class WordFit(NamedTuple):
    """Fitted weights of A's factors, the restart probability, and the log-likelihood reached."""

    weights: Floats
    epsilon: float
    log_likelihood: float


def log_likelihood(weights: Floats, logit: float, judged: Judged) -> tuple[float, Floats, float]:
    """Mean log π̃(gold) with π̃ = ε·u + (1-ε)·full, and its gradient by weights and by ε's logit.

    ε = least + (most - least)·σ(logit), so that it stays where the chain is worth having.
    """
    features, valid, u, gold = judged
    rows = np.arange(len(gold))
    scores = np.where(valid, features @ weights, -np.inf)
    scores -= scores.max(axis=1, keepdims=True)
    full = np.exp(scores)
    full /= full.sum(axis=1, keepdims=True)
    share = 1 / (1 + np.exp(-logit))
    epsilon = _LEAST_EPSILON + (_MOST_EPSILON - _LEAST_EPSILON) * share
    hit_full, hit_u = full[rows, gold], u[rows, gold]
    mixed = np.maximum(epsilon * hit_u + (1 - epsilon) * hit_full, 1e-300)
    pull = (1 - epsilon) * hit_full / mixed
    centred = features[rows, gold] - np.einsum("nk,nkm->nm", full, features)
    slope = (_MOST_EPSILON - _LEAST_EPSILON) * share * (1 - share)
    by_logit = np.mean((hit_u - hit_full) / mixed) * slope
    return float(np.log(mixed).mean()), (pull[:, None] * centred).mean(axis=0), float(by_logit)


def fit_words(
    judged: Judged,
    start: Floats,
    *,
    steps: int = 400,
    rate: float = 0.05,
    decay: float = 1e-4,
) -> WordFit:
    """Adam on the likelihood, with features scaled to unit spread."""
    features, valid = judged.features, judged.valid
    spread = features[valid].std(axis=0)
    spread = np.where(spread > LEAST_SPREAD, spread, 1.0)
    # What all candidates of a trace share has no effect; without it sums stay accurate.
    mean = np.where(valid[..., None], features, 0.0).sum(axis=1) / valid.sum(axis=1)[:, None]
    scaled = np.where(valid[..., None], features - mean[:, None], 0.0) / spread
    parameters = np.append(start * spread, -2.0)
    adam = Adam.at_rest(parameters, share=0.01, floor=1e-8)
    value = -np.inf
    for step in range(1, steps + 1):
        value, by_weights, by_logit = log_likelihood(
            parameters[:-1], parameters[-1], judged._replace(features=scaled)
        )
        adam = adam.after(np.append(by_weights - decay * parameters[:-1], by_logit))
        parameters += rate * (1 - step / (steps + 1)) * adam.move(step)
    share = 1 / (1 + np.exp(-parameters[-1]))
    epsilon = _LEAST_EPSILON + (_MOST_EPSILON - _LEAST_EPSILON) * share
    return WordFit(parameters[:-1] / spread, float(epsilon), value)
