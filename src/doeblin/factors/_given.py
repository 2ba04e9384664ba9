"""A graph with all its scores: the input of chains over states of a factor graph."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import Scalar
from ._graph import Graph
from ._scores import AbstractScores, at_sites, inside, total
from ._tree import TreeLaw, TreeScores

State = Int[Array, " sites"]


class Given(eqx.Module):
    """All scores of a model on one graph, computed once: what restarts and kernels look up.

    Made by `Model.given(graph)`. Its fields are the graph, the scores of A's density by kind, and
    the restart's scores and law on the forest.
    """

    graph: Graph
    scores: dict[str, AbstractScores]
    base: TreeScores
    law: TreeLaw

    @eqx.filter_jit
    def log_density(self, state: State) -> Scalar:
        """log π̂(state): the sum of the scores of all factors; -inf for values out of range."""
        state = jnp.asarray(state)
        known = ((state >= 0) & (state < self.graph.num_values)).all()
        safe = jnp.clip(state, 0, jnp.asarray(self.graph.num_values) - 1)
        found = sum(
            (total(self.scores[name], kind, safe) for name, kind in self.graph.kinds.items()),
            jnp.array(0.0),
        )
        return jnp.where(known, found, -jnp.inf)

    def conditionals(self, state: State, sites: Any = None) -> Float[Array, "n values"]:
        """log π̂ of each value of some sites (of all by default), each given all others, up to a
        constant: the scores of the factors that hold the site, and of no others.

        Where no value of a site is possible, the present one has all probability: a kernel stays.
        """
        state = jnp.asarray(state)
        sites = jnp.arange(state.shape[0]) if sites is None else jnp.asarray(sites)
        return self._conditionals(state, sites)

    @eqx.filter_jit
    def _conditionals(self, state: State, sites: Int[Array, " n"]) -> Float[Array, "n values"]:
        values = self.graph.most_values
        found = jnp.zeros((sites.shape[0], values))
        for name, kind in self.graph.kinds.items():
            found += at_sites(self.scores[name], kind, state, sites, values)
        found = jnp.where(inside(self.graph.num_values, values)[sites], found, -jnp.inf)
        stuck = jnp.isneginf(found.max(axis=-1, keepdims=True))
        stay = jnp.where(jnp.arange(values) == state[sites][:, None], 0.0, -jnp.inf)
        return jnp.where(stuck, stay, found)
