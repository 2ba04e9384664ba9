"""The restart: a model's factors on a tractable part of the graph, everything else at zero."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from .._custom_types import Input, RandomKey, Scalar
from .._errors import InputError
from ..kernels import AbstractRestart
from ._given import Given, State
from ._tree import TreeLaw, TreeScores


class TreeRestart(AbstractRestart):
    """u(y | x) ∝ exp of the scores on the forest of the graph, or on its part of larger `width`:
    exact draws and probabilities.

    Its input is a [`Given`][doeblin.factors.Given], which has all sums. Blocks to be redrawn given
    the rest are boolean masks over the sites.
    """

    def sample(self, key: RandomKey, x: Input = None) -> State:
        given = checked_given(x)
        return given.law.sample(key, given.graph)

    def log_prob(self, state: State, x: Input = None) -> Scalar:
        given = checked_given(x)
        return given.law.log_prob(state, given.graph)

    def sample_block(self, key: RandomKey, state: State, block: Any, x: Input = None) -> State:
        given = checked_given(x)
        drawn = given_rest(given, state, block).sample(key, given.graph)
        return jnp.where(block, drawn.astype(state.dtype), state)

    def log_prob_block(self, state: State, block: Any, x: Input = None) -> Scalar:
        given = checked_given(x)
        return given_rest(given, state, block).log_prob(state, given.graph)

    def log_prob_known(self, state: State, known: Any, x: Input = None) -> Scalar:
        """log of the probability that the known sites have the values that they have in `state`."""
        given = checked_given(x)
        as_is = jnp.arange(given.graph.most_values)[None] == state[:, None]
        ruled_out = jnp.asarray(known)[:, None] & ~as_is
        # From what is normalised already: partitions may be too large for their difference.
        rest = TreeScores(jnp.where(ruled_out, -jnp.inf, 0.0), given.law.conditionals)
        return rest.law(given.graph).log_partition


def given_rest(given: Given, state: Int[Array, " sites"], block: Bool[Array, " sites"]) -> TreeLaw:
    """The law given the values of all sites outside of the block."""
    as_is = jnp.arange(given.graph.most_values)[None] == state[:, None]
    sites = jnp.where(jnp.asarray(block)[:, None] | as_is, given.base.sites, -jnp.inf)
    return TreeScores(sites, given.base.branches).law(given.graph)


def checked_given(x: Any) -> Given:
    if not isinstance(x, Given):
        raise InputError(
            f"the input of a factor graph's chain is what `model.given(graph)` returns, got "
            f"{type(x).__name__}"
        )
    return x
