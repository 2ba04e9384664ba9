"""The table of variances: time reversal against Algorithm 1, at equal transitions.

A small model of words: five letters, three values; u sees single letters, A a dictionary too.
"""

from __future__ import annotations

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from doeblin.chains import Chain, doeblin
from doeblin.kernels import AbstractRestart, Gibbs
from doeblin.learning import FixedHorizon, Forward, Reversal, extend_with_zeros

from .models import Case, relative_mse, run

LENGTH, VALUES, EPSILON = 5, 3, 0.05
STATES = np.array(list(itertools.product(range(VALUES), repeat=LENGTH)))
POWERS = VALUES ** np.arange(LENGTH)[::-1]
_rng = np.random.default_rng(1)
WORDS = STATES[_rng.choice(len(STATES), 8, replace=False)]
OBSERVED = (WORDS[0] + [0, 1, 0, 2, 0]) % VALUES
DATUM = int(WORDS[0] @ POWERS)


def _letter_features(state: np.ndarray) -> np.ndarray:
    return np.r_[(state == OBSERVED).sum(), np.bincount(state, minlength=VALUES)]


def _all_features(state: np.ndarray) -> np.ndarray:
    pairs = np.zeros((VALUES, VALUES))
    np.add.at(pairs, (state[:-1], state[1:]), 1)
    known = (state == WORDS).all(axis=1).any()
    prefixes = sum((WORDS[:, :n] == state[:n]).all(axis=1).any() for n in range(1, LENGTH + 1))
    return np.r_[_letter_features(state), pairs.ravel(), known, prefixes]


F0 = jnp.asarray(np.array([_letter_features(s) for s in STATES]), dtype=float)
F1 = jnp.asarray(np.array([_all_features(s) for s in STATES]), dtype=float)
THETA_0 = jnp.asarray(np.r_[1.2, _rng.normal(0, 0.2, VALUES)], dtype=float)
FAR = jnp.asarray(
    np.r_[0.8, _rng.normal(0, 0.2, VALUES), _rng.normal(0, 0.3, VALUES**2), 3.0, 0.6], dtype=float
)
NEAR = extend_with_zeros(THETA_0, FAR)


class TableRestart(AbstractRestart):
    logits: jax.Array

    def sample(self, key, x=None):
        return jnp.asarray(STATES)[jax.random.categorical(key, self.logits)]

    def log_prob(self, state, x=None):
        return jax.nn.log_softmax(self.logits)[state @ jnp.asarray(POWERS)]


class TableDensity(eqx.Module):
    table: jax.Array

    def __call__(self, state, x=None):
        return self.table[state @ jnp.asarray(POWERS)]

    def conditional(self, state, site, x=None):
        power = jnp.asarray(POWERS)[site]
        rest = state @ jnp.asarray(POWERS) - state[site] * power
        return self.table[rest + power * jnp.arange(VALUES)]


def build(parameters: tuple[jax.Array, jax.Array]) -> Chain:
    density = TableDensity(F1 @ parameters[1])
    kernel = Gibbs(density, VALUES, conditional=density.conditional)
    return doeblin(kernel, TableRestart(F0 @ parameters[0]), EPSILON)


def law(parameters: tuple[jax.Array, jax.Array]) -> jax.Array:
    """The stationary law by linear algebra, from the definition of random-scan Gibbs."""
    table = F1 @ parameters[1]
    numbers = np.arange(len(STATES))
    matrix = jnp.zeros((len(STATES), len(STATES)))
    for site in range(LENGTH):
        rest = numbers - STATES[:, site] * POWERS[site]
        neighbours = rest[:, None] + POWERS[site] * np.arange(VALUES)
        chosen = jax.nn.softmax(table[neighbours], axis=-1) / LENGTH
        matrix = matrix.at[numbers[:, None], neighbours].add(chosen)
    u = jax.nn.softmax(F0 @ parameters[0])
    system = jnp.eye(len(STATES)) - (1 - EPSILON) * matrix
    return EPSILON * jnp.linalg.solve(system.T, u)


LAW = jax.jit(law)
SLOPE = jax.jit(jax.grad(lambda parameters: jnp.log(law(parameters)[DATUM])))
HORIZON = FixedHorizon(EPSILON)
FORWARD, REVERSAL = Forward(HORIZON, num_walks=64), Reversal(HORIZON, num_walks=64)


# Of Algorithm 1, by mixing: the mean squared error of its gradients, to the square of the true one;
# from 1500 runs, with standard errors of 0.01 and 0.02.
ALGORITHM_1 = {0.0: 0.27, 0.33: 0.45}


def errors_and_cost(
    estimator: Forward | Reversal, mixing: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """The same of each of 100 runs of any estimator, its transitions, and its likelihoods, to the
    true one. Compiled once for all mixings: parameters are arguments."""
    parameters = (THETA_0, (1 - mixing) * NEAR + mixing * FAR)
    truth = np.asarray(ravel_pytree(SLOPE(parameters))[0], np.float64)
    case = Case(parameters, build, law, jnp.asarray(STATES[DATUM]))
    runs = run(case, estimator, 100, chunk=25)
    each = [relative_mse(gradient[None], truth) for gradient in runs.gradients]
    return np.array(each), runs.transitions, runs.likelihoods / float(LAW(parameters)[DATUM])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mixing", "factor"),
    [
        pytest.param(0.0, 10, id="initialisation", marks=pytest.mark.thorough),
        pytest.param(0.33, 6, id="mid regime"),
    ],
)
def test_reversal_with_baseline_beats_algorithm_1(mixing: float, factor: float):
    errors, _, likelihoods = errors_and_cost(REVERSAL, mixing)
    assert errors.mean() <= ALGORITHM_1[mixing] / factor
    noise = likelihoods.std(ddof=1) / np.sqrt(len(likelihoods))
    assert noise < 0.05 and abs(likelihoods.mean() - 1) <= 4 * noise + 1e-5


@pytest.mark.thorough
@pytest.mark.parametrize("mixing", ALGORITHM_1)
def test_algorithm_1_has_these_errors_at_equal_transitions(mixing: float):
    """The test above compares with what others measured."""
    errors, cost, _ = errors_and_cost(FORWARD, mixing)
    noise = np.hypot(errors.std(ddof=1) / np.sqrt(len(errors)), 0.02)
    assert abs(errors.mean() - ALGORITHM_1[mixing]) <= 3 * noise
    assert abs(cost / errors_and_cost(REVERSAL, mixing)[1] - 1) < 0.02


def test_at_the_initialisation_the_likelihood_is_the_restarts():
    """A that leaves u invariant: π̃ = u, and every walk weighs the same."""
    parameters = (THETA_0, NEAR)
    u = jax.nn.softmax(F0 @ THETA_0)
    np.testing.assert_allclose(LAW(parameters), u, rtol=1e-4)
    y = jnp.asarray(STATES[DATUM])
    estimator = Reversal(FixedHorizon(EPSILON), num_walks=4)
    estimate = eqx.filter_jit(estimator)(jax.random.key(0), build(parameters), y)
    # All that varies are the lengths of the tails, which carry a twentieth of the mass.
    np.testing.assert_allclose(jnp.exp(estimate.log_likelihood), u[DATUM], rtol=0.2)
    np.testing.assert_allclose(
        estimate.log_walk_weights[2:], estimate.log_walk_weights[2], rtol=1e-4
    )
