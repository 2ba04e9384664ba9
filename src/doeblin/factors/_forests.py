"""Kernels that redraw whole forests exactly, given all other sites."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Input, RandomKey, Scalar
from ..kernels import AbstractReversibleKernel
from ._given import Given, State
from ._graph import Graph
from ._kernels import AbstractSweep, log_density
from ._restart import checked_given
from ._scores import at_sites, inside
from ._structure import NOTHING
from ._tree import TreeLaw, TreeScores, branches_at


class ForestGibbs(AbstractReversibleKernel):
    """Redraw a whole forest of the graph exactly given all other sites, the forest chosen uniformly
    among those that the graph is divided into.

    Messages pass along the factors of two sites within a forest; all others that touch it count by
    the values that the rest has. On a grid two forests are enough, the first of two thirds of the
    sites. A factor of three or more sites holds no two of a forest, so where one holds all sites,
    this is a [`SiteGibbs`][doeblin.factors.SiteGibbs].
    """

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.sample_scored(key, state, x)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        given, state = checked_given(x), jnp.asarray(state)
        block_key, value_key = jax.random.split(key)
        number = jax.random.randint(block_key, (), 0, given.graph.num_blocks)
        block = _Block.of(given, _branches(given), jnp.asarray(given.graph.blocks.rounds)[number])
        new, log_prob = block.redrawn(value_key, state)
        return new, log_prob - jnp.log(given.graph.num_blocks)

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        given = checked_given(x)
        branches = _branches(given)

        def by(rounds: Array) -> Scalar:
            found = _Block.of(given, branches, rounds).log_prob(new, old)
            return jnp.where(rounds[0, 0] == NOTHING, -jnp.inf, found)

        each = jax.vmap(by)(jnp.asarray(given.graph.blocks.rounds))
        return jax.nn.logsumexp(each) - jnp.log(given.graph.num_blocks)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return log_density(state, x)

    def density(self) -> Callable[[State, Input], Scalar]:
        return log_density


class ForestSweep(AbstractSweep):
    """Redraw all forests of [`ForestGibbs`][doeblin.factors.ForestGibbs] in order (or in reversed
    order): every site once in a step. Its time reversal is the sweep in the opposite order."""

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        given = checked_given(x)
        branches = _branches(given)

        def redraw(state: State, step: tuple[Array, RandomKey]) -> tuple[State, Scalar]:
            return _Block.of(given, branches, step[0]).redrawn(step[1], state)

        rounds = jnp.asarray(given.graph.blocks.rounds)
        steps = (rounds, jax.random.split(key, rounds.shape[0]))
        new, log_probs = jax.lax.scan(redraw, jnp.asarray(state), steps, reverse=self.backward)
        return new, log_probs.sum()

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        given = checked_given(x)
        branches = _branches(given)

        def redraw(state: State, rounds: Array) -> tuple[State, Scalar]:
            block = _Block.of(given, branches, rounds)
            after = jnp.where(block.inside, new, state)
            return after, block.log_prob(after, state)

        rounds = jnp.asarray(given.graph.blocks.rounds)
        reached, steps = jax.lax.scan(redraw, old, rounds, reverse=self.backward)
        # Padding is never redrawn.
        return jnp.where((reached != new).any(), -jnp.inf, steps.sum())


class _Block(NamedTuple):
    """One forest, to be redrawn given the rest of a state."""

    given: Given
    graph: Graph
    """With this forest in the place of the restart's."""
    branches: Float[Array, "sites parents values"]
    inside: Bool[Array, " sites"]

    @classmethod
    def of(cls, given: Given, branches: Array, rounds: Int[Array, "rounds width"]) -> _Block:
        graph = given.graph
        found = jnp.zeros(len(graph.num_values) + 2, bool).at[rounds].set(True)[:-2]
        return cls(given, _hung(graph, rounds), branches, found)

    def redrawn(self, key: RandomKey, state: State) -> tuple[State, Scalar]:
        """The state with the forest redrawn, and the log-probability of that."""
        law = self._law(state)
        drawn = law.sample(key, self.graph).astype(state.dtype)
        new = jnp.where(self.inside & ~self._stuck(law), drawn, state)
        return new, self._log_prob(law, new, state)

    def log_prob(self, new: State, old: State) -> Scalar:
        return self._log_prob(self._law(old), new, old)

    def _log_prob(self, law: TreeLaw, new: State, old: State) -> Scalar:
        known = (new >= 0) & (new < self.graph.num_values)
        redrawn = jnp.where(known, law.log_probs(new, self.graph), -jnp.inf)
        stay = jnp.where(new == old, 0.0, -jnp.inf)
        return jnp.where(self.inside & ~self._stuck(law), redrawn, stay).sum()

    def _stuck(self, law: TreeLaw) -> Bool[Array, " sites"]:
        """Sites of trees that have no possible state, given the rest: they stay as they are."""
        at_root = law.conditionals[jnp.asarray(self.graph.blocks.root), 0]
        return jnp.isneginf(at_root.max(axis=-1))

    def _law(self, state: State) -> TreeLaw:
        graph, values = self.graph, self.graph.most_values
        sites = jnp.asarray(graph.rounds).ravel()
        found = jnp.zeros((sites.shape[0], values))
        for name, kind in graph.kinds.items():
            beside = jnp.asarray(kind.inner) == NOTHING
            found += at_sites(self.given.scores[name], kind, state, sites, values, beside)
        fields = jnp.zeros((len(graph.num_values) + 2, values)).at[sites].set(found)[:-2]
        fields = jnp.where(inside(graph.num_values, values), fields, -jnp.inf)
        return TreeScores(fields, self.branches).law(graph)


def _branches(given: Given) -> Float[Array, "sites parents values"]:
    """The scores of all factors of two sites within one forest."""
    inner = {name: kind.inner for name, kind in given.graph.kinds.items()}
    return branches_at(_hung(given.graph, given.graph.rounds), given.scores, inner)


def _hung(graph: Graph, rounds: Any) -> Graph:
    """The graph with another forest in the place of the restart's part."""
    return dataclasses.replace(graph, above=graph.blocks.parent[:, None], rounds=rounds)
