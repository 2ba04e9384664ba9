"""Parameters wherever a user may keep them: enclosed by functions, held by plain objects.

Every part of the model is written with them at once, and everything that can be learned is learned:
the restart, a kernel, a mixture's weights, ε, a stage matrix, a reward; and a proposal, which the
likelihood does not depend on. The referee is numpy: powers of matrices, and central differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin.chains import Chain, doeblin
from doeblin.kernels import AbstractReversibleKernel, FunctionRestart, Independent, mixture
from doeblin.learning import Bidirectional, FixedHorizon, Forward, Reward

from .models import Runs, assert_gradient, assert_mean

SIZE = 4
NUMBERS = np.arange(SIZE)
THETA = np.array([0.4, -0.5, 0.3, -0.6, 0.8, -0.4, 0.2, 0.7])
STEPS = FixedHorizon(0.35, steps=5)


class Table:
    """A distribution in the manner of other libraries, which JAX cannot look into."""

    def __init__(self, logits: jax.Array):
        self.logits = jax.nn.log_softmax(logits)

    def sample(self, key: jax.Array) -> jax.Array:
        return jax.random.categorical(key, self.logits)

    def log_prob(self, state: jax.Array) -> jax.Array:
        return self.logits[state]


class Enclosed(AbstractReversibleKernel):
    """A kernel of the user's that is all functions."""

    rows: Callable[[Any], jax.Array]
    target: Callable[[Any], jax.Array]

    def sample(self, key, state, x=None):
        return jax.random.categorical(key, self.rows(state))

    def log_prob(self, new, old, x=None):
        return self.rows(old)[new]

    def log_target(self, state, x=None):
        return self.target(state)


# The model, written once for jax and for numpy.
def softmax(np: Any, logits: Any) -> Any:
    weights = np.exp(logits)
    return weights / weights.sum()


def restart_law(np: Any, t: Any) -> Any:
    return softmax(np, np.stack([0 * t[0], t[0], t[1], t[0] * t[1]]))


def target_law(np: Any, t: Any) -> Any:
    return softmax(np, t[2] * NUMBERS**2 / 4 + t[3] * NUMBERS)


def barker(np: Any, t: Any) -> Any:
    """To a neighbour in the circle with Barker's chance, or stay."""
    law = target_law(np, t)
    near = (NUMBERS[:, None] - NUMBERS) % SIZE % 2 == 1
    moves = np.where(near, 0.5 * law[None] / (law[:, None] + law[None]), 0)
    return moves + np.diag(1 - moves.sum(axis=1))


def reward(np: Any, t: Any) -> Any:
    return np.exp(t[6] * NUMBERS - t[7] * NUMBERS**2 / 3)


def sigmoid(np: Any, logit: Any) -> Any:
    return 1 / (1 + np.exp(-logit))


def stage_matrix(np: Any, t: Any) -> Any:
    """Stage 1 restarts; stage 0 never follows itself."""
    a, b, c = (sigmoid(np, t[i]) for i in (5, 6, 7))
    rows = [0 * a, a, 1 - a], [b / 2, b / 2, 1 - b], [c, 0 * c, 1 - c]
    return np.stack([np.stack(row) for row in rows])


def build_parts(t: jax.Array) -> tuple[Any, Any, Any]:
    matrix, law = barker(jnp, t), target_law(jnp, t)
    own = Enclosed(
        lambda state: jnp.log(jnp.where(matrix[state] > 0, matrix[state], 1e-37)),
        lambda state: jnp.log(law)[state] + 3,
    )
    fresh = Independent(FunctionRestart.from_distribution(Table(jnp.log(law))))
    mixed = mixture([own, fresh], jax.nn.softmax(t[3:5]), same_target=True)
    return own, mixed, FunctionRestart.from_distribution(Table(jnp.log(restart_law(jnp, t))))


def build_plain(t: jax.Array, *, mixed: bool) -> Chain:
    *kernels, restart = build_parts(t)
    return doeblin(kernels[mixed], restart, sigmoid(jnp, t[5]))


def build_staged(t: jax.Array) -> Chain:
    own, mixed, restart = build_parts(t)
    return Chain(stage_matrix(jnp, t), (own, None, mixed), restart, 1)


def proposal(t: jax.Array) -> FunctionRestart:
    """The state given its parity, with parameters of its own."""

    def logits(y: Any) -> jax.Array:
        return jax.nn.log_softmax(jnp.where(y == NUMBERS % 2, t[0] * NUMBERS, -jnp.inf))

    return FunctionRestart(
        lambda key, given: jax.random.categorical(key, logits(given[1])),
        lambda state, given: logits(given[1])[state],
    )


def moves(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    own, (stay, fresh) = barker(np, t), softmax(np, t[3:5])
    return own, stay * own + fresh * target_law(np, t)


def plain_law(t: np.ndarray, *, mixed: bool) -> np.ndarray:
    epsilon = sigmoid(np, t[5])
    matrix = (1 - epsilon) * moves(t)[mixed] + epsilon * restart_law(np, t)
    return np.linalg.matrix_power(matrix, 4096)[0]


def staged_law(t: np.ndarray) -> np.ndarray:
    own, mixed = moves(t)
    parts = np.stack([own, np.tile(restart_law(np, t), (SIZE, 1)), mixed])
    joint = np.einsum("ab,bij->aibj", stage_matrix(np, t), parts).reshape(3 * SIZE, 3 * SIZE)
    return np.linalg.matrix_power(joint, 4096)[0].reshape(3, SIZE).sum(axis=0)


class Case(NamedTuple):
    build: Callable[[jax.Array], Chain]
    estimator: Callable[[jax.Array], Any]
    chance: Callable[[np.ndarray], float]


CASES = {
    "forward, latent": Case(
        lambda t: build_plain(t, mixed=True),
        lambda t: Forward(STEPS, num_walks=4, proposal=proposal(t), baseline=True),
        lambda t: plain_law(t, mixed=True)[1::2].sum(),
    ),
    # With `Reversal` it shares everything but the weights, which have no gradient.
    "bidirectional, by the others": Case(
        lambda t: build_plain(t, mixed=False),
        lambda t: Bidirectional(STEPS, num_walks=4, normalise="others"),
        lambda t: plain_law(t, mixed=False)[1],
    ),
    "reward, stages": Case(
        build_staged,
        lambda t: Reward(lambda y, s, x: jnp.log(reward(jnp, t))[s], STEPS, num_walks=4),
        lambda t: staged_law(t) @ reward(np, t),
    ),
}


# With stages there is every part of the model, and a reward.
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=() if "stages" in name else pytest.mark.thorough)
        for name, case in CASES.items()
    ],
)
def test_gradients_reach_what_functions_enclose(case: Case):
    def one(key: jax.Array, theta: jax.Array) -> Any:
        def value(t: jax.Array) -> jax.Array:
            return case.estimator(t)(key, case.build(t), jnp.array(1)).log_likelihood

        return jax.value_and_grad(value)(theta)

    keys = jax.random.split(jax.random.key(3), 1000)
    found = jax.jit(jax.vmap(one, in_axes=(0, None)))(keys, jnp.asarray(THETA))
    values, slopes = (np.asarray(part, np.float64) for part in found)
    chance = case.chance(THETA)
    steps = 1e-5 * np.eye(len(THETA))
    ratios = [case.chance(THETA + step) / case.chance(THETA - step) for step in steps]
    assert_mean(np.exp(values), chance)
    runs = Runs(np.exp(values), slopes, 0.0, np.zeros(0))
    normalise = case.estimator(jnp.asarray(THETA)).normalise
    assert_gradient(runs, chance, np.log(ratios) / 2e-5, normalise)
