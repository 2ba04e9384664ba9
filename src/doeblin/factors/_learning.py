"""Learning: examples are pairs (graph, labels), parameters are the model's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._custom_types import Input, RandomKey, Scalar
from .._errors import InputError
from ..chains import Chain
from ..kernels import AbstractKernel, AbstractRestart
from ..learning import (
    AbstractEstimator,
    Contrastive,
    Dataset,
    FixedHorizon,
    PathEstimate,
    weighted_states,
)
from ._given import Given
from ._graph import Graph
from ._kernels import ColourSweep
from ._model import Model
from ._padding import Sizes, padded
from ._restart import TreeRestart, checked_given

State = Int[Array, " sites"]


class FactorLikelihood(eqx.Module):
    """The objective of examples (graph, labels) for [`fit`][doeblin.learning.fit], whose parameters
    are a [`Model`][doeblin.factors.Model]: the estimator's log-likelihood of the chain.

    With [`RestartLikelihood`][doeblin.learning.RestartLikelihood] it is log u, exactly. Labels of
    -1 are missing: then give the estimator `proposal=Completion()`.
    """

    estimator: AbstractEstimator
    epsilon: float = eqx.field(static=True)
    kernel: AbstractKernel = ColourSweep()

    def __call__(self, key: RandomKey, model: Model, example: Any) -> PathEstimate:
        graph, labels = example
        chain = model.chain(self.epsilon, self.kernel)
        return self.estimator(key, chain, labels, model.given(graph))


class PseudoLikelihood(AbstractEstimator):
    """Σ over sites of log π(y_i | all others), exactly: Besag's pseudo-likelihood of A's density.

    Cheap and without noise, but not the likelihood, neither of A's density nor of the chain; and
    the restart learns nothing from it. A good way to where the chain's own likelihood goes on.
    """

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        given, y = checked_given(x), jnp.asarray(y)
        log_probs = jax.nn.log_softmax(given.conditionals(y))
        each = jnp.take_along_axis(log_probs, y[:, None], axis=1)[:, 0]
        total = jnp.where(jnp.arange(y.shape[0]) < given.graph.num_sites, each, 0).sum()
        stages = chain.stage_matrix.shape[0]
        one_walk = jax.lax.stop_gradient(total)[None]
        return PathEstimate(total, one_walk, jnp.array(0.0), jnp.zeros((stages, stages)))


class ShownContrastive(AbstractEstimator):
    """Contrastive divergence has no value, so the pseudo-likelihood shows how training goes."""

    contrastive: Contrastive

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        slope = self.contrastive(key, chain, y, x)
        shown = PseudoLikelihood()(key, chain, y, x)
        value = jax.lax.stop_gradient(shown.log_likelihood) + _slope_alone(slope.log_likelihood)
        return PathEstimate(value, shown.log_walk_weights, slope.transitions, slope.stage_counts)


@jax.custom_jvp
def _slope_alone(value: Array) -> Array:
    """Zero, with the gradient of what is given (whose value may be NaN)."""
    return jnp.zeros_like(value)


@_slope_alone.defjvp
def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return jnp.zeros_like(primals[0]), tangents[0]


class Completion(AbstractRestart):
    """Draws labels that are missing (-1) from u, given those that are there.

    The proposal of estimators where labels are partial; its input is a pair (given, labels).
    """

    def sample(self, key: RandomKey, x: Input = None) -> State:
        given, labels = _checked_pair(x)
        return TreeRestart().sample_block(key, _filled(labels), labels < 0, given)

    def log_prob(self, state: State, x: Input = None) -> Scalar:
        given, labels = _checked_pair(x)
        agrees = jnp.where(labels >= 0, state == labels, True).all()
        found = TreeRestart().log_prob_block(state, labels < 0, given)
        return jnp.where(agrees, found, -jnp.inf)

    def log_marginal(self, x: Input) -> Scalar:
        """log u of the labels that are there."""
        given, labels = _checked_pair(x)
        return TreeRestart().log_prob_known(_filled(labels), labels >= 0, given)


def labelled(examples: Sequence[tuple[Graph, Any]], *, num_buckets: int = 4) -> Dataset:
    """Examples (graph, labels) for [`fit`][doeblin.learning.fit]: graphs of like sizes share a
    shape, of at most `num_buckets`."""
    if not len(examples):
        raise InputError("there are no examples to learn from")
    for number, (graph, labels) in enumerate(examples):
        check_labels(number, graph, np.asarray(labels))
    ordered = sorted((len(graph.num_values) for graph, _ in examples), reverse=True)
    sizes = {
        length: Sizes.of([graph for graph, _ in examples if len(graph.num_values) <= length])
        for length in set(ordered)
    }

    def pad(example: tuple[Graph, Any], length: int) -> tuple[Graph, Any]:
        graph, labels = example
        more = length - len(graph.num_values)
        wide = padded(graph, sizes[length]._replace(values=sizes[ordered[0]].values))
        return wide, np.pad(np.asarray(labels, np.int32), (0, more))

    return Dataset(
        examples,
        length=lambda example: len(example[0].num_values),
        pad=pad,
        num_buckets=num_buckets,
    )


def marginals(
    key: RandomKey,
    given: Given,
    epsilon: float,
    *,
    kernel: AbstractKernel | None = None,
    num_walks: int = 16,
) -> Float[Array, "sites values"]:
    """P(value) of each site under the stationary law of the model's chain, from weighted walks."""
    chain = Model({}).chain(epsilon, kernel)
    states, weights = weighted_states(key, chain, FixedHorizon(epsilon), num_walks, given)
    each = jax.nn.one_hot(states, given.graph.most_values)
    return jnp.einsum("wsv,w->sv", each, weights, precision="highest")


def check_labels(number: int, graph: Graph, labels: np.ndarray) -> None:
    size = len(graph.num_values)
    if labels.shape != (size,) or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"the labels of example {number} have shape {labels.shape} and type {labels.dtype}; "
            f"its graph has {size} sites, and each needs a whole number"
        )
    wrong = np.flatnonzero((labels < -1) | (labels >= graph.num_values))
    if len(wrong):
        site = wrong[0]
        raise InputError(
            f"example {number} has label {labels[site]} at site {site}, which has values 0 to "
            f"{graph.num_values[site] - 1} (-1 says that a label is missing)"
        )


def _checked_pair(x: Any) -> tuple[Given, Array]:
    given, labels = x
    return given, jnp.asarray(labels)


def _filled(labels: Array) -> Array:
    return jnp.maximum(labels, 0)
