"""Chains small enough to know everything about, and what estimators say of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.stats import norm

from doeblin.chains import Chain, doeblin
from doeblin.kernels import FiniteKernel, FiniteRestart
from doeblin.learning import AbstractEstimator, PathEstimate

from ..statistics import LEVEL

NUM_STATES = 5
_rng = np.random.default_rng(0)


@dataclass(frozen=True, eq=False)
class Case:
    """A model with parameters, its chain, and its exact law as a function of them."""

    parameters: Any
    build: Callable[[Any], Chain]
    law: Callable[[Any], jax.Array]
    datum: Any = None
    """What is observed, where data are no numbers."""


def _plain_parameters() -> dict[str, jax.Array]:
    return {
        "u": jnp.asarray(_rng.normal(size=NUM_STATES)),
        "A": jnp.asarray(_rng.normal(size=(NUM_STATES, NUM_STATES))),
        "epsilon": jnp.array(-1.5),
    }


def _build_plain(p: dict[str, jax.Array]) -> Chain:
    return doeblin(FiniteKernel(p["A"]), FiniteRestart(p["u"]), jax.nn.sigmoid(p["epsilon"]))


def _plain_law(p: dict[str, jax.Array]) -> jax.Array:
    epsilon, u = jax.nn.sigmoid(p["epsilon"]), jax.nn.softmax(p["u"])
    system = jnp.eye(NUM_STATES) - (1 - epsilon) * jax.nn.softmax(p["A"], axis=-1)
    return epsilon * jnp.linalg.solve(system.T, u)


PLAIN = Case(_plain_parameters(), _build_plain, _plain_law)


def _staged_matrix(logits: jax.Array) -> jax.Array:
    """Three stages that may follow each other in any order; stage 1 restarts."""
    return jax.nn.softmax(logits, axis=-1)


def _staged_parameters() -> dict[str, jax.Array]:
    return {
        "u": jnp.asarray(_rng.normal(size=NUM_STATES)),
        "A": jnp.asarray(_rng.normal(size=(2, NUM_STATES, NUM_STATES))),
        "C": jnp.array([[1.5, -0.5, 0.5], [0.0, -1.0, 0.5], [-1.0, 0.0, 1.0]]),
    }


def _build_staged(p: dict[str, jax.Array]) -> Chain:
    first, second = FiniteKernel(p["A"][0]), FiniteKernel(p["A"][1])
    return Chain(_staged_matrix(p["C"]), (first, None, second), FiniteRestart(p["u"]), 1)


def _staged_law(p: dict[str, jax.Array]) -> jax.Array:
    """The marginal law of the state under the joint chain, from its balance equations."""
    u = jax.nn.softmax(p["u"])
    moves = jax.nn.softmax(p["A"], axis=-1)
    parts = jnp.stack([moves[0], jnp.tile(u, (NUM_STATES, 1)), moves[1]])
    joint = jnp.einsum("ab,bij->aibj", _staged_matrix(p["C"]), parts)
    size = 3 * NUM_STATES
    system = (joint.reshape(size, size).T - jnp.eye(size)).at[0].set(1.0)
    law = jnp.linalg.solve(system, jnp.zeros(size).at[0].set(1.0))
    return law.reshape(3, NUM_STATES).sum(axis=0)


STAGED = Case(_staged_parameters(), _build_staged, _staged_law)


class Runs(NamedTuple):
    """Many runs of an estimator with different seeds."""

    likelihoods: np.ndarray
    """Z of each run."""
    gradients: np.ndarray
    transitions: float
    stage_counts: np.ndarray


@functools.cache
def _compiled(
    build: Callable[[Any], Chain], estimator: AbstractEstimator, much: bool
) -> Callable[..., Any]:
    """Values and gradients of many seeds. Parameters and data are arguments: compiled once.

    Machine code that has `much` to do is worth optimising; the other takes longer to compile.
    """
    options = {"xla_backend_optimization_level": 1} if much else None

    def one(parameters: Any, y: Any, key: jax.Array):
        def value(parameters: Any):
            estimate = estimator(key, build(parameters), y)
            return estimate.log_likelihood, estimate

        (_, estimate), slope = eqx.filter_value_and_grad(value, has_aux=True)(parameters)
        mean = jnp.exp(estimate.log_walk_weights).mean()
        return mean, ravel_pytree(slope)[0], estimate.transitions, estimate.stage_counts

    return jax.jit(jax.vmap(one, in_axes=(None, None, 0)), compiler_options=options)


@functools.cache
def _runs(case: Case, estimator: AbstractEstimator, y: int | None, num_runs: int, chunk: int):
    many = _compiled(case.build, estimator, num_runs >= 2000)
    datum = case.datum if y is None else jnp.array(y)
    keys = jax.random.split(jax.random.key(11), (num_runs // chunk, chunk))
    parts = [many(case.parameters, datum, some) for some in keys]
    values, slopes, transitions, counts = (
        np.concatenate([np.asarray(part[i], dtype=np.float64) for part in parts]) for i in range(4)
    )
    return Runs(values, slopes, float(transitions.mean()), counts)


def run(
    case: Case,
    estimator: AbstractEstimator,
    num_runs: int,
    *,
    y: int | None = None,
    chunk: int = 500,
) -> Runs:
    """An estimator with `num_runs` seeds, for the datum `y` (or the case's own)."""
    return _runs(case, estimator, y, num_runs, chunk)


def _own(law: jax.Array, y: Any) -> jax.Array:
    return law[y]


@functools.cache
def _exact(law: Callable[[Any], jax.Array], chance: Callable[[jax.Array, Any], jax.Array]):
    """Compiled once for all data."""
    return jax.jit(jax.value_and_grad(lambda p, y: jnp.log(chance(law(p), y))))


def exact(
    case: Case, y: int, chance: Callable[[jax.Array, Any], jax.Array] = _own
) -> tuple[float, np.ndarray]:
    """The likelihood (or another chance of y) and the gradient of its logarithm, by algebra."""
    value, slope = _exact(case.law, chance)(case.parameters, y)
    return float(jnp.exp(value)), np.asarray(ravel_pytree(slope)[0], dtype=np.float64)


def assert_mean(samples: np.ndarray, mean: float) -> None:
    """z-test: the samples' mean is `mean`, up to their own standard error."""
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    assert error < 0.05 * abs(mean), "too few runs to tell"
    assert abs(samples.mean() - mean) <= norm.isf(LEVEL / 2) * error + 1e-5 * abs(mean)


def cosine(gradients: np.ndarray, truth: np.ndarray) -> float:
    """Of the expected gradient with the true one: what noise adds to the mean's norm is taken off.

    Noise makes the mean of n runs longer, |mean|² by Σ variance/n on average, and so the plain
    cosine smaller, however right the expectation is.
    """
    mean, noise = gradients.mean(axis=0), gradients.var(axis=0, ddof=1).sum() / len(gradients)
    square = mean @ mean
    assert noise < 0.05 * square, "too few runs to tell"
    return float(mean @ truth / np.sqrt((square - noise) * (truth @ truth)))


def assert_gradient(runs: Runs, likelihood: float, gradient: np.ndarray, normalise: str) -> None:
    """Each component of the mean gradient is right, up to its own standard error.

    Normalised by all walks, g is unbiased once multiplied with its own Z. Normalised by the others,
    its mean is a multiple of the gradient, by no less than one.
    """
    if normalise == "all":
        samples = runs.gradients * (runs.likelihoods / likelihood)[:, None]
    else:
        along = runs.gradients @ gradient / (gradient @ gradient)
        assert along.mean() > 1 - 3 * along.std(ddof=1) / np.sqrt(len(along))
        samples = runs.gradients - (along - 1)[:, None] * gradient
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    limit = norm.isf(LEVEL / 2 / len(gradient))
    assert np.all(np.abs(samples.mean(axis=0) - gradient) <= limit * error + 1e-6)


def relative_mse(gradients: np.ndarray, truth: np.ndarray) -> float:
    return float(((gradients - truth) ** 2).sum(axis=1).mean() / (truth @ truth))


def noisy(key, parameters, example) -> PathEstimate:
    """Quick to compile; a key that goes to another example is seen. Parameters are looked up as
    tables of kernels are, which JAX refuses where arrays come from outside of a part."""
    values = jax.nn.log_softmax(parameters["u"])[example[1]] + 0.1 * jax.random.normal(key, (2,))
    values += 0.1 * parameters["A"][jnp.arange(2), example[1]]
    value = jnp.sum(values * jnp.array([1.0, 0.5]) * (1 + parameters["epsilon"]))
    return PathEstimate(value, values, jnp.array(1.0), jnp.zeros((2, 2)))
