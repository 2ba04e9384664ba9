"""Decoding by exact draws: the strong Doeblin chain whose restart is the trie's posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ..._custom_types import Count, Input, RandomKey, Scalar
from ..._errors import InputError
from ...chains import Chain, doeblin
from ...kernels import AbstractRestart, Gibbs

if TYPE_CHECKING:
    from ._decoder import Candidates, Decoder


class CandidateRestart(AbstractRestart):
    """u over the candidates of a trace; the input is (log u, log full)."""

    def sample(self, key: RandomKey, x: Input = None) -> Count:
        return jax.random.categorical(key, x[0])

    def log_prob(self, state: Count, x: Input = None) -> Scalar:
        return jax.nn.log_softmax(x[0])[state]


def word_chain(epsilon: float, num_words: int) -> Chain:
    """The chain over the candidates' numbers: restart from u, else redraw from the full model.

    The word is the chain's only site, so a Gibbs step draws it from the full model outright.
    """
    kernel = Gibbs(
        lambda state, x: x[1][state],
        num_words,
        conditional=lambda state, site, x: x[1],
    )
    return doeblin(kernel, CandidateRestart(), epsilon)


def draw_words(
    decoder: Decoder, candidates: Candidates, draws: int, seed: int
) -> NDArray[np.float64]:
    """Frequencies of the candidates among exact draws from π̃."""
    if draws < 1:
        raise InputError(f"draws = {draws} must be at least 1")
    chances = np.zeros(candidates.ids.shape)
    usable = candidates.ids[:, 0] >= 0
    if not usable.any():
        return chances
    chain = word_chain(decoder.model.epsilon, candidates.ids.shape[1])
    xs = (
        jnp.asarray(candidates.log_u[usable]),
        jnp.asarray(decoder.log_full(candidates)[usable]),
    )
    states = np.asarray(chain.draw_each(jax.random.key(seed), draws, xs).state)
    num_words = candidates.ids.shape[1]
    counts = [np.bincount(row, minlength=num_words) for row in states]
    chances[usable] = np.array(counts) / draws
    return chances
