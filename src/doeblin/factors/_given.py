"""A graph with all its scores: the input of chains over states of a factor graph."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from .._custom_types import Scalar
from .._errors import InputError
from ._graph import Graph
from ._paths import Listed
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
    words: dict[str, Listed]
    """Of the kinds that are word lists."""

    @eqx.filter_jit
    def log_density(self, state: State) -> Scalar:
        """log π̂(state): the sum of the scores of all factors; -inf for values out of range."""
        state = self._checked(state)
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
        state = self._checked(state)
        if sites is None:
            return self._conditionals(state, jnp.arange(state.shape[0]))
        # Inside `jit` kernels ask for their own sites, where -1 stands for none.
        if not isinstance(sites, Tracer):
            wanted, size = np.asarray(sites), state.shape[0]
            if not np.issubdtype(wanted.dtype, np.integer) or wanted.ndim != 1:
                raise InputError(
                    f"sites = {sites!r} must be a vector of whole numbers, as in [0, 2]"
                )
            outside = wanted[(wanted < -1) | (wanted >= size)]
            if len(outside):
                raise InputError(f"there is no site {outside[0]}; there are sites 0 to {size - 1}")
        return self._conditionals(state, jnp.asarray(sites))

    def _checked(self, state: Any) -> State:
        state, size = jnp.asarray(state), len(self.graph.num_values)
        if state.shape != (size,) or not jnp.issubdtype(state.dtype, jnp.integer):
            raise InputError(
                f"a state has shape {state.shape} and type {state.dtype}; it needs one whole "
                f"number for each of the {size} sites"
            )
        return state

    @eqx.filter_jit
    def _conditionals(self, state: State, sites: Int[Array, " n"]) -> Float[Array, "n values"]:
        values = self.graph.most_values
        found = jnp.zeros((sites.shape[0], values))
        for name, kind in self.graph.kinds.items():
            found += at_sites(self.scores[name], kind, state, sites, values)
        found = jnp.where(inside(self.graph.num_values, values)[sites], found, -jnp.inf)
        stuck = jnp.isneginf(found.max(axis=-1, keepdims=True))
        stay = jnp.where(jnp.arange(values)[None] == state[sites][:, None], 0.0, -jnp.inf)
        return jnp.where(stuck, stay, found)
