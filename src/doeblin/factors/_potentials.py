"""Potentials: what the factors of one kind say about the values in their scope."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Scalar
from .._errors import InputError


class Sparse(NamedTuple):
    """A few features for each factor: their numbers and values; unused entries have value 0."""

    numbers: Int[Array, "factors entries"]
    values: Float[Array, "factors entries"]


class AbstractPotential(eqx.Module):
    """The scores of one kind of factors. Scores add up to the log-density; -inf forbids."""

    @abc.abstractmethod
    def silenced(self) -> AbstractPotential:
        """The same potential with all scores zero, ready to learn."""


class AbstractTable(AbstractPotential):
    """Potentials whose scores are tables: for each factor one, or one for all."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """How many values each place of the scope has in the tables."""

    @abc.abstractmethod
    def tables(self, features: Any) -> Float[Array, "rows ..."]:
        """One table for each factor, given their features; a single row serves all."""


class Table(AbstractTable):
    """One table of scores for all factors of the kind; -inf forbids, and is not learned.

    >>> Table.zeros(2, 3).shape
    (2, 3)
    """

    weights: Float[Array, "*values"]
    """0 where something is forbidden."""
    allowed: Bool[Array, "*values"]

    def __init__(self, weights: Any):
        wanted = "a table needs one axis for each place of the scope"
        self.weights, self.allowed = _ruled(_numbers(weights, wanted, 1))

    @classmethod
    def zeros(cls, *shape: int) -> Table:
        """One number for each value of each place."""
        return cls(jnp.zeros(shape))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape

    def tables(self, features: Any) -> Float[Array, "1 ..."]:
        return jnp.where(self.allowed, self.weights, -jnp.inf)[None]

    def silenced(self) -> Table:
        return Table(jnp.zeros_like(self.weights))


class Tables(AbstractTable):
    """A table of scores for each factor: for a model of one graph, as files have it. -inf forbids,
    and is not learned."""

    weights: Float[Array, "factors ..."]
    """0 where something is forbidden."""
    allowed: Bool[Array, "factors ..."]

    def __init__(self, weights: Any):
        wanted = "tables need axes (factor, value, …)"
        self.weights, self.allowed = _ruled(_numbers(weights, wanted, 2))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape[1:]

    def tables(self, features: Any) -> Float[Array, "factors ..."]:
        return jnp.where(self.allowed, self.weights, -jnp.inf)

    def silenced(self) -> Tables:
        return Tables(jnp.zeros_like(self.weights))


class Linear(AbstractTable):
    """Log-linear scores: score(values) = Σ_f features[f] · weights[f, values].

    Features are an array (factors, features), or [`Sparse`][doeblin.factors.Sparse].
    """

    weights: Float[Array, "features ..."]

    def __init__(self, weights: Any):
        self.weights = _numbers(weights, "weights need axes (feature, value, …)", 2)

    @classmethod
    def zeros(cls, num_features: int, *shape: int) -> Linear:
        """One number for each feature and each value of each place."""
        return cls(jnp.zeros((num_features, *shape)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape[1:]

    def tables(self, features: Any) -> Float[Array, "factors ..."]:
        if isinstance(features, Sparse):
            rows = self.weights[features.numbers]
            return jnp.einsum("fe...,fe->f...", rows, features.values, precision="highest")
        return jnp.tensordot(features, self.weights, axes=1, precision="highest")

    def silenced(self) -> Linear:
        return Linear(jnp.zeros_like(self.weights))


class Network(AbstractTable):
    """Scores by any Equinox module: `module(features)` gives the numbers of one factor's table."""

    module: Callable[[Any], Any]
    shape_of_table: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, module: Callable[[Any], Any], *shape: int):
        self.module = module
        self.shape_of_table = shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shape_of_table

    def tables(self, features: Any) -> Float[Array, "factors ..."]:
        numbers = jax.vmap(self.module)(features)
        size = int(np.prod(self.shape))
        if numbers.size != numbers.shape[0] * size:
            raise InputError(
                f"the module of a network gives numbers of shape {numbers.shape[1:]} for one "
                f"factor; tables of shape {self.shape} need {size}"
            )
        return numbers.reshape(-1, *self.shape)

    def silenced(self) -> Network:
        return Network(_Gated(self.module, jnp.array(0.0)), *self.shape)


class AbstractFunction(AbstractPotential):
    """Potentials that are scored as they are needed, for scopes of any size.

    Places that a scope does not use (-1 in it) have the value -1.
    """

    @abc.abstractmethod
    def __call__(self, values: Int[Array, " places"], features: Any) -> Scalar:
        """The score of one factor."""

    def prepared(self) -> AbstractFunction:
        """The same, with all computed that parameters alone decide: done once for each input."""
        return self

    def scores(
        self, values: Int[Array, " places"], place: Any, num_values: int, features: Any
    ) -> Float[Array, " values"]:
        """The score for each value of one place, the others as they are.

        Override it where that costs less than scoring each on its own.
        """
        candidates = jnp.arange(num_values, dtype=values.dtype)
        return jax.vmap(lambda value: self(values.at[place].set(value), features))(candidates)


class Function(AbstractFunction):
    """Scores by a function of the values and the features of one factor, or an Equinox module."""

    function: Callable[[Any, Any], Any]

    def __call__(self, values: Int[Array, " places"], features: Any) -> Scalar:
        score = jnp.asarray(self.function(values, features), dtype=float)
        if score.shape != ():
            raise InputError(
                f"a potential must give one number for one factor, got shape {score.shape}; write "
                "it for a single factor (doeblin vmaps for you)"
            )
        return score

    def silenced(self) -> Function:
        return Function(_Gated(self.function, jnp.array(0.0)))


class Count(AbstractFunction):
    """A score for how many sites of the scope have one of the `counted` values.

    `weights[n]` is the score of n such sites. To redraw a site costs one pass over the scope,
    however many values there are.
    """

    weights: Float[Array, " counts"]
    counted: Bool[Array, " values"]

    def __init__(self, weights: Any, counted: Any):
        self.weights = _numbers(weights, "weights of counts are a vector", 1)
        self.counted = jnp.asarray(counted, dtype=bool)

    def __call__(self, values: Int[Array, " places"], features: Any) -> Scalar:
        return self.weights[self._counts(values).sum()]

    def scores(
        self, values: Int[Array, " places"], place: Any, num_values: int, features: Any
    ) -> Float[Array, " values"]:
        counts = self._counts(values)
        # The graph's sites may all have fewer values than are told apart here, or some more.
        each = self.counted[jnp.minimum(jnp.arange(num_values), len(self.counted) - 1)]
        return self.weights[counts.sum() - counts[place] + each.astype(jnp.int32)]

    def silenced(self) -> Count:
        return Count(jnp.zeros_like(self.weights), self.counted)

    def _counts(self, values: Int[Array, " places"]) -> Int[Array, " places"]:
        return jnp.where(values >= 0, self.counted[values], False).astype(jnp.int32)


class _Gated(eqx.Module):
    """A function times one number. At zero the number learns first, then the function."""

    function: Callable[..., Any]
    scale: Float[Array, ""]

    def __call__(self, *arguments: Any) -> Array:
        return self.scale * jnp.asarray(self.function(*arguments))


def enumerated(
    potential: AbstractFunction,
    features: Any,
    there: Bool[Array, "factors places"],
    shape: tuple[int, ...],
) -> Float[Array, "factors ..."]:
    """A function's scores as tables, one for each factor; places that are not `there` have -1."""
    values = jnp.asarray(list(itertools.product(*map(range, shape))), jnp.int32)

    def table(there: Array, features: Any) -> Array:
        rows = jnp.where(there, values, -1)
        return jax.vmap(lambda row: potential(row, features))(rows).reshape(shape)

    return jax.vmap(table)(there, features)


def _ruled(weights: Array) -> tuple[Array, Array]:
    """Weights that can be learned, and which of them count: -inf is a rule."""
    allowed = ~jnp.isneginf(weights)
    return jnp.where(allowed, weights, 0), allowed


def _numbers(weights: Any, wanted: str, least: int) -> Array:
    try:
        given = weights if hasattr(weights, "dtype") else np.asarray(weights)
    except ValueError as error:
        raise InputError(f"{wanted}, and all rows of one size ({error})") from None
    if not (jnp.issubdtype(given.dtype, jnp.number) or given.dtype == bool):
        raise InputError(f"{wanted}, of real numbers; got {given.dtype}")
    if jnp.issubdtype(given.dtype, jnp.complexfloating):
        raise InputError(f"{wanted}, of real numbers; got {given.dtype} (take its real part)")
    array = jnp.asarray(weights, dtype=float)
    if array.ndim < least or 0 in array.shape:
        raise InputError(f"{wanted}, none of them empty; got shape {array.shape}")
    return array
