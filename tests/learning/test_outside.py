"""A user's own model, with everything that is allowed at once, against matrices of numpy.

States are nested and of three types; restart and kernels depend on an input, split their keys and
rule states out; stages follow each other in an odd order, one of them always, one never twice.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import norm

import doeblin
from doeblin import Schedule
from doeblin.chains import Chain
from doeblin.kernels import AbstractKernel, AbstractRestart
from doeblin.learning import FixedHorizon, Forward, Reward, likelihood, log_likelihood

from ..statistics import LEVEL, assert_follows
from .models import Case, assert_gradient, assert_mean, run

SIZE = 6
_rng = np.random.default_rng(23)
HOLES = _rng.random((3, SIZE, SIZE)) < 0.3
HOLES[:, np.arange(SIZE), (np.arange(SIZE) + 1) % SIZE] = False
OUTSIDE = np.array([False, True, False, False, True, False])
MATRIX = np.array([[0, 0.7, 0, 0.3], [0.5, 0, 0.5, 0], [0.2, 0.3, 0.1, 0.4], [0, 0, 1.0, 0]])
SCHEDULE = Schedule(MATRIX, restart=2)
X = np.array([0.4, -0.7])


def state_of(number: Any) -> Any:
    return {"half": (number % 2 == 1,), "rest": [jnp.int8(number // 2), jnp.float32(number)]}


def number_of(state: Any) -> Any:
    return 2 * state["rest"][0].astype(jnp.int32) + state["half"][0]


def chosen(key: jax.Array, logits: jax.Array) -> Any:
    """By a race, with keys that are split and folded."""
    _, key = jax.random.split(key)
    keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(jnp.arange(SIZE))
    return state_of(jnp.argmax(logits + jax.vmap(jax.random.gumbel)(keys)))


class Start(AbstractRestart):
    u: jax.Array

    def logits(self, x: Any) -> jax.Array:
        return jnp.where(OUTSIDE, -jnp.inf, self.u + x["shift"][0] * jnp.arange(SIZE))

    def sample(self, key, x=None):
        return chosen(key, self.logits(x))

    def log_prob(self, state, x=None):
        return jax.nn.log_softmax(self.logits(x))[number_of(state)]


class Move(AbstractKernel):
    table: jax.Array
    holes: np.ndarray

    def row(self, state: Any, x: Any) -> jax.Array:
        number = number_of(state)
        row = self.table[number] + x["shift"][1] * jnp.cos(jnp.arange(SIZE) * number)
        return jnp.where(jnp.asarray(self.holes)[number], -jnp.inf, row)

    def sample(self, key, state, x=None):
        return chosen(key, self.row(state, x))

    def log_prob(self, new, old, x=None):
        return jax.nn.log_softmax(self.row(old, x))[number_of(new)]


def build(p: Any) -> Chain:
    kernels = [Move(table, holes) for table, holes in zip(p["A"], HOLES, strict=True)]
    return doeblin.staged(SCHEDULE, kernels, Start(p["u"]))


PARAMETERS = {
    "A": jnp.asarray(_rng.normal(size=(3, SIZE, SIZE))),
    "u": jnp.asarray(_rng.normal(size=SIZE)),
}


def joint_law(p: Any) -> np.ndarray:
    """(stage, number): the left eigenvector, by powers of the joint matrix."""
    numbers = np.arange(SIZE)
    weights = np.where(OUTSIDE, 0, np.exp(np.asarray(p["u"], np.float64) + X[0] * numbers))
    u = weights / weights.sum()
    tables = np.asarray(p["A"], np.float64) + X[1] * np.cos(np.outer(numbers, numbers))
    moves = np.where(HOLES, 0, np.exp(tables))
    moves /= moves.sum(axis=2, keepdims=True)
    parts = [moves[0], moves[1], np.tile(u, (SIZE, 1)), moves[2]]
    joint = np.zeros((4, SIZE, 4, SIZE))
    for a, b in itertools.product(range(4), repeat=2):
        joint[a, :, b, :] = MATRIX[a, b] * parts[b]
    power = np.linalg.matrix_power(joint.reshape(4 * SIZE, 4 * SIZE), 4096)
    return power[0].reshape(4, SIZE)


def exact(chance: np.ndarray) -> tuple[float, np.ndarray]:
    """E[chance] and the gradient of its logarithm, by central differences."""
    flat = np.asarray(ravel_pytree(PARAMETERS)[0], np.float64)

    def value(point: np.ndarray) -> float:
        sizes = 3 * SIZE * SIZE
        p = {"A": point[:sizes].reshape(3, SIZE, SIZE), "u": point[sizes:]}
        return float(np.log(joint_law(p).sum(axis=0) @ chance))

    steps = 1e-5 * np.eye(len(flat))
    slope = np.array([(value(flat + step) - value(flat - step)) / 2e-5 for step in steps])
    return float(np.exp(value(flat))), slope


GIVEN = {"shift": jnp.asarray(X)}
FIXED = FixedHorizon(0.2, steps=12)
NEAR = np.array([0.1, 0.5, 1.0, 3.0, 0.2, 0.05])


class WithInput:
    """An estimator whose datum brings the input with it."""

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def __call__(self, key, chain, y):
        return self.estimator(key, chain, y[0], y[1])


FORWARD = WithInput(Forward(FIXED))
REWARD = WithInput(Reward(lambda y, state, x: jnp.log(jnp.asarray(NEAR))[number_of(state)], FIXED))
ESTIMATORS = {
    "forward": (FORWARD, np.eye(SIZE)[3]),
    "forward, outside of the restart": (FORWARD, np.eye(SIZE)[4]),
    "reward": (REWARD, NEAR),
}


@pytest.mark.thorough  # `test_closures.py` has all parts of a model at once
@pytest.mark.parametrize(("estimator", "chance"), ESTIMATORS.values(), ids=ESTIMATORS.keys())
def test_values_and_gradients(estimator: Any, chance: np.ndarray):
    value, gradient = exact(chance)
    datum = (state_of(jnp.array(int(np.argmax(chance)))), GIVEN)
    runs = run(Case(PARAMETERS, build, joint_law, datum), estimator, 1000)
    assert_mean(runs.likelihoods, value)
    assert_gradient(runs, value, gradient, "all")


@pytest.mark.thorough
def test_exact_draws_and_runs_have_the_joint_law():
    chain, law = build(PARAMETERS), joint_law(PARAMETERS)
    draws = chain.draw(jax.random.key(0), 8000, GIVEN)
    assert_follows(np.asarray(draws.stage) * SIZE + np.asarray(number_of(draws.state)), law.ravel())
    each = chain.draw_each(jax.random.key(1), 4000, {"shift": jnp.stack([jnp.asarray(X)] * 2)})
    for one in (0, 1):
        numbers = np.asarray(number_of(jax.tree.map(lambda leaf, one=one: leaf[one], each.state)))
        assert_follows(numbers, law.sum(axis=0))
    # A run has this law at each of its late moments: one of each of many runs is independent.
    last = jax.vmap(lambda key: jax.tree.map(lambda leaf: leaf[-1], chain.run(key, 40, GIVEN)))
    ends = jax.jit(last)(jax.random.split(jax.random.key(2), 4000))
    assert_follows(np.asarray(ends.stage) * SIZE + np.asarray(number_of(ends.state)), law.ravel())
    estimate = chain.estimate(
        jax.random.key(3), lambda state: state["rest"][1], num_tours=1024, chunk=1024, x=GIVEN
    )
    error = abs(float(estimate.mean) - law.sum(axis=0) @ np.arange(SIZE))
    assert error <= norm.isf(LEVEL / 2) * float(estimate.standard_error)


@pytest.mark.thorough  # test_fit.py has means over data, the test above estimates
def test_log_likelihood_of_data():
    """The mean over data, from below, within its own error."""
    law = joint_law(PARAMETERS).sum(axis=0)
    data = [(GIVEN, jax.tree.map(np.asarray, state_of(jnp.array(y)))) for y in (0, 3, 3, 4)]
    objective = likelihood(Forward(FIXED, num_walks=256), build)
    found = log_likelihood(objective, PARAMETERS, data)
    truth = np.log(law[[0, 3, 3, 4]]).mean()
    assert found.standard_error < 0.1
    assert abs(found.mean - truth) <= 4 * found.standard_error + 4 * found.standard_error**2


class Stay(AbstractKernel):
    def sample(self, key, state, x=None):
        return state


def test_rare_restarts_are_as_rare_as_they_should_be():
    """In a run, where stages are drawn one by one: 2^19 steps at ε = 2^-13, 64 restarts."""
    chain = doeblin.doeblin(Stay(), doeblin.kernels.FiniteRestart.from_law([0.5, 0.5]), 2.0**-13)
    last = jax.jit(jax.vmap(partial(last_tour, chain)))(jax.random.split(jax.random.key(0), 2**9))
    assert abs(int(last.sum()) - 64) <= 5 * np.sqrt(64)


def last_tour(chain: Chain, key: jax.Array) -> jax.Array:
    return chain.run(key, 2**10).tour[-1]
