"""The strong Doeblin chain over a trace's words, whose restart is the trie's posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from ..._custom_types import Count, Input, RandomKey, Scalar
from ..._inversion import categorical
from ...chains import Chain, doeblin
from ...kernels import AbstractRestart, Gibbs
from ..data import Gesture
from ._given import count_of, seed_of

if TYPE_CHECKING:
    from ._decoder import Decoder


class Visit(NamedTuple):
    """A step of the chain: the word it is at, and how it came there."""

    word: str
    restarted: bool
    """Whether the word is a fresh draw from u; else the full model redrew it."""
    age: int
    """Steps since the last restart; 0 at a restart."""


class ChainRun(NamedTuple):
    """A run of the decoder's chain on one gesture, beside the laws that it mixes.

    `words` are the candidates, likeliest first under π̃; `restart`, `full` and `posterior` are
    their probabilities under u, the full model and π̃ = ε·u + (1-ε)·full.
    """

    words: tuple[str, ...]
    restart: NDArray[np.float64]
    full: NDArray[np.float64]
    posterior: NDArray[np.float64]
    epsilon: float
    visits: tuple[Visit, ...]

    def tours(self) -> list[tuple[Visit, ...]]:
        """The visits, cut at each restart. The last tour may be unfinished."""
        starts = [k for k, visit in enumerate(self.visits) if visit.restarted]
        return [self.visits[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]


class CandidateRestart(AbstractRestart):
    """u over the candidates of a trace; the input is (log u, log full)."""

    def sample(self, key: RandomKey, x: Input = None) -> Count:
        return categorical(key, x[0])

    def log_prob(self, state: Count, x: Input = None) -> Scalar:
        return jax.nn.log_softmax(x[0])[state]


def word_chain(epsilon: float, num_words: int) -> Chain:
    """The chain over the candidates' numbers: restart from u, else redraw from the full model.

    The word is the chain's only site, so a Gibbs step draws it from the full model outright.
    """
    kernel = Gibbs(_log_full, num_words, conditional=_conditional)
    return doeblin(kernel, CandidateRestart(), epsilon)


# Functions of the module, not of each chain: so all chains of one size are compiled once.
def _log_full(state: Count, x: Input) -> Scalar:
    return x[1][state]


def _conditional(state: Count, site: Count, x: Input) -> Array:
    return x[1]


def run_chain(decoder: Decoder, gesture: Gesture, steps: int, seed: int) -> ChainRun:
    """Runs the chain on one gesture from a fresh restart and keeps every step."""
    steps, key = count_of("steps", steps), jax.random.key(seed_of(seed))
    candidates = decoder.candidates([gesture])
    epsilon, size = decoder.model.epsilon, int((candidates.ids[0] >= 0).sum())
    if not size:
        return ChainRun((), np.empty(0), np.empty(0), np.empty(0), epsilon, ())
    posterior = decoder.posterior(candidates)[0]
    # Padding is kept, so that all gestures share one compiled chain; its weight is zero.
    order = np.argsort(-posterior, kind="stable")
    log_u, log_full = candidates.log_u[0, order], decoder.log_full(candidates)[0, order]
    words = tuple(decoder.lexicon.words[k] for k in candidates.ids[0, order[:size]])
    chain, x = word_chain(epsilon, len(order)), (jnp.asarray(log_u), jnp.asarray(log_full))
    start_key, run_key = jax.random.split(key)
    start = chain.init(start_key, x)
    visited = [(start.state[None], start.age[None])]
    if steps > 1:
        positions = chain.run(run_key, steps - 1, x, start=start)
        visited.append((positions.state, positions.age))
    states, ages = (np.concatenate([np.asarray(one[k]) for one in visited]) for k in (0, 1))
    return ChainRun(
        words,
        np.exp(log_u[:size]),
        np.exp(log_full[:size]),
        posterior[order[:size]],
        epsilon,
        tuple(
            Visit(words[int(state)], bool(age == 0), int(age))
            for state, age in zip(states, ages, strict=True)
        ),
    )
