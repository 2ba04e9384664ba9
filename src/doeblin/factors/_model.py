"""Models: a potential for each kind of factors, declared once."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from .._errors import InputError
from .._plain import plain_errors
from ..chains import Chain, doeblin
from ..kernels import AbstractKernel
from ._given import Given
from ._graph import Graph, Kind
from ._kernels import ColourSweep
from ._paths import Listed, NGrams, Words, check_path
from ._potentials import (
    AbstractFunction,
    AbstractPotential,
    AbstractTable,
    Count,
    Linear,
    Sparse,
    enumerated,
)
from ._restart import TreeRestart
from ._scores import AbstractScores, FunctionScores, TableScores
from ._tree import TreeLaw, TreeScores, on_forest

Potentials = dict[str, AbstractPotential]


class Model(eqx.Module):
    """log π̂(y | x) = Σ of the scores of all factors, by one potential for each kind of them.

    Everything else is derived. `given(graph)` has the density, each site's conditional, and the
    restart's law; `chain(epsilon)` is the chain over states, whose input is that.

    >>> from doeblin.factors import Table
    >>> model = Model({"pair": Table([[1.0, 0.0], [0.0, 1.0]])})
    >>> given = model.given(Graph.of([2, 2, 2], {"pair": [[0, 1], [1, 2], [2, 0]]}))
    >>> float(given.log_density(jnp.array([0, 0, 1])))
    1.0
    """

    potentials: Potentials
    """A's; with `beyond`, of the factors on the forest."""
    base: Potentials | None = None
    """The restart's own; without, it has A's."""
    beyond: Potentials | None = None
    """A's, of the factors that are not on the forest."""

    def __check_init__(self):
        for potentials in (self.potentials, self.base or {}, self.beyond or {}):
            for name, potential in potentials.items():
                if not isinstance(potential, AbstractPotential):
                    raise InputError(
                        f"the potential of {name!r} is {potential!r}; it must be a Table, Linear, "
                        "Network, Function or another AbstractPotential"
                    )

    def split(self, *, silent: bool = True) -> Model:
        """The same model with parameters for u and for A of their own, to learn both.

        By the paper's initialisation A leaves u invariant: factors beyond the forest get potentials
        of their own, which start at zero, so that the chain has the likelihood of u. If not
        `silent`, A starts with the scores that this model has, on the forest and beyond.
        """
        beyond = {name: each.silenced() for name, each in self.potentials.items()}
        return Model(self.potentials, dict(self.potentials), beyond if silent else None)

    def given(self, graph: Graph) -> Given:
        """All scores on one graph."""
        for potentials in (self.potentials, self.base, self.beyond):
            if potentials is not None:
                check(potentials, graph)
        with plain_errors():
            return Given(graph, *self._scores(graph))

    @eqx.filter_jit
    def _scores(
        self, graph: Graph
    ) -> tuple[dict[str, AbstractScores], TreeScores, TreeLaw, dict[str, Listed]]:
        scores = _all_scores(graph, self.potentials, self.beyond)
        own = scores if self.base is None else _all_scores(graph, self.base, None)
        base = on_forest(graph, own)
        law = base.law(graph)
        law = eqx.error_if(
            law,
            ~jnp.isfinite(law.log_partition),
            "the factors on the tree rule out every state (or add up to +inf): look for tables "
            "with -inf in all entries of a row, and for factors that contradict each other",
        )
        lists = self.beyond or self.potentials
        words = {name: own.scored() for name, own in lists.items() if isinstance(own, Words)}
        return scores, base, law, words

    def strongest(self, graph: Graph) -> Graph:
        """The graph with the forest of the strongest factors of two sites that this model has (and
        beside it, where its width is larger, the strongest that fit).

        A factor's strength is its table's largest entry, in size, once rows and columns have mean
        zero: what no scores of single sites could say. What forbids something comes first.
        """
        scores = _all_scores(graph, self.potentials, None)
        weights = {}
        for name, kind in graph.kinds.items():
            own = scores[name]
            small = 2 <= kind.scopes.shape[1] <= graph.width + 1 and (kind.scopes >= 0).all()
            if small and isinstance(own, TableScores):
                weights[name] = _strengths(np.asarray(own.each()), kind, graph)
        return graph.retreed(weights)

    def chain(self, epsilon: Any, kernel: AbstractKernel | None = None) -> Chain:
        """The chain (1-ε)A + ε·u over states of any graph; its input is `given(graph)`.

        u is the [`TreeRestart`][doeblin.factors.TreeRestart]; A the given kernel, by default a
        [`ColourSweep`][doeblin.factors.ColourSweep].
        """
        return doeblin(kernel or ColourSweep(), TreeRestart(), epsilon)


def check(potentials: Potentials, graph: Graph) -> None:
    """Refuse potentials that do not fit the graph; graphs inside `jit` have been seen before."""
    if set(potentials) != set(graph.kinds):
        raise InputError(
            f"the model has potentials for {sorted(potentials)}, the graph has factors "
            f"{sorted(graph.kinds)}; every kind needs one potential"
        )
    for name, potential in potentials.items():
        _check_shape(name, potential, graph.kinds[name], graph.num_values)
        for path, leaf in jax.tree_util.tree_leaves_with_path(potential):
            if eqx.is_inexact_array(leaf) and not isinstance(leaf, Tracer):
                wrong = np.argwhere(np.isnan(leaf) | np.isposinf(leaf))
                if len(wrong):
                    raise InputError(
                        f"the potential of {name!r} has {leaf[tuple(wrong[0])]} at "
                        f"{jax.tree_util.keystr(path)}{wrong[0].tolist()}; scores are finite, or "
                        "-inf for what is impossible"
                    )


def _check_shape(name: str, potential: AbstractPotential, kind: Kind, num_values: Any) -> None:
    places = kind.scopes.shape[1]
    if isinstance(potential, Count):
        scopes = kind.scopes[kind.scopes >= 0] if not isinstance(kind.scopes, Tracer) else []
        most = np.asarray(num_values)[scopes].max(initial=1) if len(scopes) else 1
        if len(potential.counted) < most:
            raise InputError(
                f"the potential of {name!r} says of {len(potential.counted)} values whether they "
                f"count, and a site in its scopes has {most}"
            )
        if len(potential.weights) <= places:
            raise InputError(
                f"the potential of {name!r} has weights for 0 to {len(potential.weights) - 1} "
                f"sites, and its scopes have {places}; it needs {places + 1} weights"
            )
        return
    if isinstance(potential, NGrams | Words) and not isinstance(kind.scopes, Tracer):
        check_path(name, potential, kind.scopes, num_values)
    if not isinstance(potential, AbstractTable):
        return
    if len(potential.shape) != places:
        raise InputError(
            f"the potential of {name!r} has tables of shape {potential.shape}, and its factors are "
            f"over {places} sites; tables need one axis for each site"
        )
    if isinstance(kind.scopes, Tracer):
        return
    if isinstance(potential, Linear) and isinstance(kind.features, Sparse):
        _check_numbers(kind.features.numbers, len(potential.weights), name)
    scopes = np.asarray(kind.scopes)
    missing = np.argwhere(scopes < 0)
    if len(missing):
        raise InputError(
            f"factor {missing[0][0]} of {name!r} has a place without a site; scopes of different "
            "sizes need a Function or a Count"
        )
    needed = np.asarray(num_values)[scopes]
    short = np.argwhere(needed > np.array(potential.shape))
    if len(short):
        factor, place = short[0]
        raise InputError(
            f"factor {factor} of {name!r} is over site {scopes[factor, place]} with "
            f"{needed[factor, place]} values, and its table of shape {potential.shape} has "
            f"{potential.shape[place]} there"
        )


def _all_scores(
    graph: Graph, potentials: Potentials, beyond: Potentials | None
) -> dict[str, AbstractScores]:
    """Scores by kind; `beyond` has the potentials of factors that are not on the forest."""
    found = {}
    for name, kind in graph.kinds.items():
        here = _scores(potentials[name], kind, graph, name)
        there = here if beyond is None else _scores(beyond[name], kind, graph, name)
        if beyond is not None and isinstance(here, TableScores) and isinstance(there, TableScores):
            row = jnp.where(kind.on_tree, here.row, there.row + here.tables.shape[0])
            there = TableScores(jnp.concatenate([here.tables, there.tables]), row, here.shape)
        # What is no table is on no forest.
        found[name] = there
    return found


def _scores(potential: AbstractPotential, kind: Kind, graph: Graph, name: str) -> AbstractScores:
    factors, places = kind.scopes.shape
    if isinstance(potential, AbstractFunction):
        if places > max(2, graph.width + 1):
            return FunctionScores.of(potential.prepared(), kind.features)
        shape = (graph.most_values,) * places
        there = jnp.asarray(kind.scopes) >= 0
        tables = enumerated(potential.prepared(), kind.features, there, shape)
        # A function may know nothing of values that a site does not have.
        counts = jnp.where(there, jnp.asarray(graph.num_values)[kind.scopes], graph.most_values)
        for place, size in enumerate(shape):
            known = jnp.arange(size)[None] < counts[:, place, None]
            axes = [size if axis == place else 1 for axis in range(places)]
            tables = jnp.where(known.reshape(factors, *axes), tables, 0)
    elif isinstance(potential, AbstractTable):
        shape = potential.shape
        tables = _checked_tables(potential, kind, name)
    else:
        raise InputError(
            f"the potential of {name!r} is a {type(potential).__name__}; subclass AbstractTable or "
            "AbstractFunction"
        )
    row = jnp.arange(factors) if tables.shape[0] == factors else jnp.zeros(factors, jnp.int32)
    tables = eqx.error_if(
        tables,
        (jnp.isnan(tables) | jnp.isposinf(tables)).any(),
        f"the scores of {name!r} have NaN or +inf: look for them in its weights and features, and "
        "for overflow",
    )
    return TableScores(tables.reshape(tables.shape[0], -1), row, shape)


def _checked_tables(potential: AbstractTable, kind: Kind, name: str) -> Array:
    try:
        tables = potential.tables(kind.features)
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise InputError(
            f"the potential of {name!r} does not fit the features of its factors: {error}"
        ) from error
    if tables.shape[0] not in (1, len(kind.scopes)):
        raise InputError(
            f"the potential of {name!r} has tables for {tables.shape[0]} factors, and the graph "
            f"has {len(kind.scopes)}"
        )
    return tables


def _check_numbers(numbers: Any, count: int, name: str) -> None:
    wrong = np.argwhere((np.asarray(numbers) < 0) | (np.asarray(numbers) >= count))
    if len(wrong):
        factor, entry = wrong[0]
        raise InputError(
            f"factor {factor} of {name!r} has feature {numbers[factor, entry]}, and its potential "
            f"has weights for 0 to {count - 1}"
        )


def _strengths(tables: np.ndarray, kind: Kind, graph: Graph) -> np.ndarray:
    found = []
    for scope, table in zip(kind.declared().scopes, tables, strict=False):
        own = table[tuple(slice(0, graph.num_values[site]) for site in scope)]
        if np.isneginf(own).any():
            found.append(np.inf)
        else:
            axes = range(own.ndim)
            each = [
                own.mean(axis=tuple(other for other in axes if other != axis), keepdims=True)
                for axis in axes
            ]
            found.append(np.abs(own - sum(each) + (own.ndim - 1) * own.mean()).max())
    return np.array(found)
