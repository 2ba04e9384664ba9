"""The linear-chain CRF as a restart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import Count, Input, RandomKey, Scalar
from ..kernels import AbstractRestart
from . import _potentials as chains
from ._ends import FractionBlock, log_prob_end, sample_end
from ._potentials import Labels, Potentials, Sums


class SparseFeatures(NamedTuple):
    """A few features at each place: their numbers and values; unused entries have value 0."""

    numbers: Int[Array, "length entries"]
    values: Float[Array, "length entries"]


class Observed(NamedTuple):
    """One observed sequence: features of every place (dense or sparse) and its true length."""

    features: Float[Array, "length features"] | SparseFeatures
    length: Count


class LinearPotentials(eqx.Module):
    """The usual CRF: features times weights at every place, one matrix of transition scores."""

    weights: Float[Array, "features labels"]
    transitions: Float[Array, "labels labels"]
    start: Float[Array, " labels"]
    end: Float[Array, " labels"]

    @classmethod
    def zeros(cls, num_features: int, num_labels: int) -> LinearPotentials:
        return cls(
            jnp.zeros((num_features, num_labels)),
            jnp.zeros((num_labels, num_labels)),
            jnp.zeros(num_labels),
            jnp.zeros(num_labels),
        )

    def __call__(self, x: Observed) -> Potentials:
        if isinstance(x.features, SparseFeatures):
            rows = self.weights[x.features.numbers]
            unary = jnp.einsum("tek,te->tk", rows, x.features.values, precision="highest")
        else:
            unary = jnp.matmul(x.features, self.weights, precision="highest")
        unary = unary.at[0].add(self.start).at[x.length - 1].add(self.end)
        return Potentials(unary, self.transitions, x.length)


class LinearChainCRF(AbstractRestart):
    """A linear-chain conditional random field u(y | x).

    `potentials(x)` gives the scores; states are vectors of labels, 0 in the padding. Blocks to be
    redrawn given the rest are boolean masks over the places, or `FractionBlock`s (which cost less
    if the potentials are `summed()`).

    >>> import jax
    >>> crf = LinearChainCRF(LinearPotentials.zeros(3, num_labels=2))
    >>> x = Observed(jnp.zeros((5, 3)), jnp.array(4))
    >>> round(float(crf.log_partition(x)), 4)
    2.7726
    """

    potentials: Callable[[Any], Potentials]

    def sample(self, key: RandomKey, x: Input = None) -> Labels:
        return chains.sample(key, self.potentials(x))

    def log_prob(self, state: Labels, x: Input = None) -> Scalar:
        potentials = self.potentials(x)
        # Padding is part of the state: only zeros have mass there.
        clean = jnp.all(potentials.inside | (state == 0))
        log_prob = chains.log_weight(potentials, state) - chains.log_partition(potentials)
        return jnp.where(clean, log_prob, -jnp.inf)

    def log_partition(self, x: Input = None) -> Scalar:
        return chains.log_partition(self.potentials(x))

    def marginals(self, x: Input = None) -> tuple[Array, Array]:
        """P(y_t = k) at every place, and P(y_t = j, y_{t+1} = k) at every step."""
        return chains.marginals(self.potentials(x))

    def viterbi(self, x: Input = None) -> tuple[Labels, Scalar]:
        """The most probable labelling, and its log-probability."""
        potentials = self.potentials(x)
        labels, weight = chains.viterbi(potentials)
        return labels, weight - chains.log_partition(potentials)

    def sample_block(self, key: RandomKey, state: Labels, block: Any, x: Input = None) -> Labels:
        potentials = self.potentials(x)
        if (sums := _known_sums(potentials, block)) is not None:
            return sample_end(key, potentials, sums, state, block)
        drawn, _ = chains.draw(key, _given_rest(potentials, state, block))
        return drawn.astype(state.dtype)

    def log_prob_block(self, state: Labels, block: Any, x: Input = None) -> Scalar:
        potentials = self.potentials(x)
        if (sums := _known_sums(potentials, block)) is not None:
            return log_prob_end(potentials, sums, state, block)
        restricted = _given_rest(potentials, state, block)
        return chains.log_weight(restricted, state) - chains.log_partition(restricted)


def _known_sums(potentials: Potentials, block: Any) -> Sums | None:
    """What to redraw a block from without new sums. A single place has no steps to look up."""
    is_end = isinstance(block, FractionBlock) and potentials.unary.shape[0] > 1
    return potentials.sums if is_end else None


def _given_rest(potentials: Potentials, state: Labels, block: Any) -> Potentials:
    places, num_labels = potentials.unary.shape
    if isinstance(block, FractionBlock):
        block = block.mask(places, potentials.length)
    as_is = jnp.arange(num_labels)[None] == state[:, None]
    return potentials.restricted(jnp.asarray(block)[:, None] | as_is)
