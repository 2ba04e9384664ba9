"""Decoding by exact draws from the strong Doeblin chain, however many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._given import seed_of
from .restart import Floats


def draw_words(
    log_u: Floats, log_full: Floats, epsilon: float, draws: int, seed: int
) -> NDArray[np.float64]:
    """Frequencies of the candidates of each row among exact, independent draws from π̃.

    An exact draw is where the chain is a geometric number of steps after a restart: with
    probability ε none, and the word is the restart's own; else some, of which the last, a Gibbs
    step on the chain's only site, drew the word from the full model whatever it was before. So of
    n draws a binomial number comes from u and the rest from the full model, and only how often each
    word came is wanted: numbers that cost the same for ten draws as for ten million. What the
    candidates leave of the full model is no word of them.
    """
    rng = np.random.default_rng(seed_of(seed) % 2**64)
    chances = np.zeros(log_u.shape)
    usable = np.isfinite(log_u).any(axis=1)
    u, full = (_with_rest(np.exp(logs[usable])) for logs in (log_u, log_full))
    restarted = rng.binomial(draws, epsilon, len(u))
    counts = rng.multinomial(restarted, u) + rng.multinomial(draws - restarted, full)
    chances[usable] = counts[:, :-1] / draws
    return chances


def _with_rest(law: Floats) -> Floats:
    """What is missing to one comes last, which is where numpy wants it."""
    law = law / np.maximum(law.sum(axis=1, keepdims=True), 1.0)
    return np.concatenate([law, np.maximum(1 - law.sum(axis=1, keepdims=True), 0.0)], axis=1)
