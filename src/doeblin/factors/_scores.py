"""Scores of the factors of one kind: for a whole state, and for the values of a site."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ._graph import Kind
from ._potentials import AbstractFunction

State = Int[Array, " sites"]


class AbstractScores(eqx.Module):
    """What the factors of a kind score, by their numbers."""

    @abc.abstractmethod
    def of_values(self, values: Int[Array, "factors places"]) -> Float[Array, " factors"]:
        """The score of every factor for the values in its scope."""

    @abc.abstractmethod
    def of_place(
        self,
        factor: Int[Array, " n"],
        place: Int[Array, " n"],
        values: Int[Array, "n places"],
        num_values: int,
    ) -> Float[Array, "n values"]:
        """For some factors, the score of each value of one place; the others have `values`."""


class TableScores(AbstractScores):
    """Scores looked up in tables; `row` says which one is a factor's."""

    tables: Float[Array, "rows entries"]
    row: Int[Array, " factors"]
    shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(int(np.prod(self.shape[place + 1 :])) for place in range(len(self.shape)))

    def each(self) -> Float[Array, "factors ..."]:
        """The table of every factor."""
        return self.tables[self.row].reshape(-1, *self.shape)

    def of_values(self, values: Int[Array, "factors places"]) -> Float[Array, " factors"]:
        return self.tables[self.row, jnp.maximum(values, 0) @ jnp.array(self.strides)]

    def of_place(
        self,
        factor: Int[Array, " n"],
        place: Int[Array, " n"],
        values: Int[Array, "n places"],
        num_values: int,
    ) -> Float[Array, "n values"]:
        strides = jnp.array(self.strides)
        here = jax.nn.one_hot(place, len(self.shape), dtype=values.dtype)
        others = ((1 - here) * jnp.maximum(values, 0)) @ strides
        # A table may have fewer values than the largest site; entries beyond are not looked at.
        most = jnp.array(self.shape)[place][:, None] - 1
        candidates = jnp.minimum(jnp.arange(num_values)[None], most) * strides[place][:, None]
        return self.tables[self.row[factor][:, None], others[:, None] + candidates]


class FunctionScores(AbstractScores):
    """Scores computed when they are needed, by one potential or by two.

    A potential is kept as its arrays and the rest: inputs of chains are made of arrays.
    """

    arrays: Any
    rest: Any = eqx.field(static=True)
    features: Any

    @classmethod
    def of(cls, potential: AbstractFunction, features: Any) -> FunctionScores:
        return cls(*eqx.partition(potential, eqx.is_array), features)

    @property
    def potential(self) -> AbstractFunction:
        return eqx.combine(self.arrays, self.rest)

    def of_values(self, values: Int[Array, "factors places"]) -> Float[Array, " factors"]:
        return jax.vmap(self.potential)(values, self.features)

    def of_place(
        self,
        factor: Int[Array, " n"],
        place: Int[Array, " n"],
        values: Int[Array, "n places"],
        num_values: int,
    ) -> Float[Array, "n values"]:
        potential = self.potential

        def one(factor: Array, place: Array, values: Array) -> Array:
            features = jax.tree.map(lambda leaf: jnp.asarray(leaf)[factor], self.features)
            return potential.scores(values, place, num_values, features)

        return jax.vmap(one)(factor, place, values)


def total(scores: AbstractScores, kind: Kind, state: State) -> Float[Array, ""]:
    """The sum of the scores of all factors of a kind."""
    found = scores.of_values(looked_up(state, kind.scopes))
    return jnp.where(jnp.arange(found.shape[0]) < kind.count, found, 0).sum()


def at_sites(
    scores: AbstractScores,
    kind: Kind,
    state: State,
    sites: Int[Array, " n"],
    num_values: int,
    counted: Bool[Array, " factors"] | None = None,
) -> Float[Array, "n values"]:
    """For each value of some sites, the sum of the scores of the factors that hold the site, or of
    those among them that are `counted`."""
    at = jnp.asarray(kind.places)[sites]
    factor, place = jnp.divmod(jnp.maximum(at, 0).ravel(), kind.scopes.shape[1])
    values = looked_up(state, jnp.asarray(kind.scopes)[factor])
    found = scores.of_place(factor, place, values, num_values).reshape(*at.shape, num_values)
    holds = at >= 0
    if counted is not None:
        holds &= counted[factor].reshape(at.shape)
    return jnp.where(holds[..., None], found, 0).sum(axis=1)


def looked_up(state: State, scopes: Any) -> Int[Array, "..."]:
    """The values of the sites in scopes; -1 where there is none."""
    return jnp.where(scopes >= 0, state[scopes], -1)


def inside(num_values: Any, most_values: int) -> Bool[Array, "sites values"]:
    """Which values each site has."""
    counts = jnp.asarray(num_values)[:, None]
    return jnp.arange(most_values, dtype=counts.dtype)[None] < counts
