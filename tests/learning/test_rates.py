"""Learning ε and stage matrices by EM; by gradient they are learned in `test_exactness`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.chains import doeblin
from doeblin.kernels import FiniteKernel, FiniteRestart
from doeblin.learning import (
    FixedHorizon,
    Forward,
    Reversal,
    em_epsilon,
    em_stage_matrix,
    exit_rates,
)

from .models import NUM_STATES, PLAIN, STAGED

# Values of the likelihood are float32 sums: this much they may err.
ROUNDING = 2e-6


def plain_law(epsilon: jax.Array) -> jax.Array:
    return PLAIN.law({**PLAIN.parameters, "epsilon": jnp.log(epsilon / (1 - epsilon))})


def log_likelihood(epsilon: jax.Array) -> jax.Array:
    """The exact mean log-likelihood of data that follow the law of the known chain."""
    return PLAIN.law(PLAIN.parameters) @ jnp.log(plain_law(epsilon))


def expected_steps(epsilon: jax.Array) -> jax.Array:
    """The exact mean of E[T | y] over the data: ∂ log π̃/∂ε = E[1/ε - T/(1-ε) | y]."""
    return (1 / epsilon - jax.grad(log_likelihood)(epsilon)) * (1 - epsilon)


def exact_em(start: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    def step(epsilon: jax.Array, _: None):
        counts = jnp.zeros((1, 2, 2)).at[0, 1, 1].set(expected_steps(epsilon))
        return em_epsilon(counts), (epsilon, log_likelihood(epsilon))

    path, values = jax.jit(lambda start: jax.lax.scan(step, start, None, length=steps)[1])(start)
    return np.asarray(path), np.asarray(values, dtype=np.float64)


def test_exact_em_climbs_to_the_epsilon_of_the_data():
    epsilon = jax.nn.sigmoid(PLAIN.parameters["epsilon"])
    path, values = exact_em(0.73, 300)
    assert np.all(np.diff(values) >= -ROUNDING)
    best = float(jax.jit(log_likelihood)(epsilon))
    assert best - values[0] > 0.05 and abs(best - values[-1]) < 5 * ROUNDING
    np.testing.assert_allclose(path[-1], epsilon, rtol=0.02)


@pytest.mark.thorough
def test_em_with_estimates_follows_exact_em():
    """Eight runs with different seeds: on average where exact EM is after as many updates."""
    estimator = Reversal(FixedHorizon(0.18, steps=12), num_walks=256)
    law = PLAIN.law(PLAIN.parameters)

    def update(epsilon: jax.Array, key: jax.Array):
        parameters = {**PLAIN.parameters, "epsilon": jnp.log(epsilon / (1 - epsilon))}
        chain, keys = PLAIN.build(parameters), jax.random.split(key, NUM_STATES)
        counts = jax.vmap(lambda key, y: estimator(key, chain, y).stage_counts)(
            keys, jnp.arange(NUM_STATES)
        )
        return em_epsilon(counts * law[:, None, None] * NUM_STATES), None

    @jax.jit
    @jax.vmap
    def climb(key: jax.Array) -> jax.Array:
        return jax.lax.scan(update, jnp.array(0.73), jax.random.split(key, 40))[0]

    found = np.asarray(climb(jax.random.split(jax.random.key(0), 8)), dtype=np.float64)
    expected = exact_em(0.73, 41)[0][-1]
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert error < 0.05 * expected
    assert abs(found.mean() - expected) <= 4 * error


def path_mass(matrix: jax.Array) -> jax.Array:
    """Σ over paths from the restart to each state of Π C[z, z'] A(y' | y), without π_C(z*)."""
    u = jax.nn.softmax(STAGED.parameters["u"])
    first, second = jax.nn.softmax(STAGED.parameters["A"], axis=-1)
    # Rows (stage, state) of the two stages that move; stage 1 restarts.
    moves = [jnp.concatenate([matrix[i, 0] * first, matrix[i, 2] * second], axis=1) for i in (0, 2)]
    begin = jnp.concatenate([matrix[1, 0] * u @ first, matrix[1, 2] * u @ second])
    system = jnp.eye(2 * NUM_STATES) - jnp.concatenate(moves)
    return u + jnp.linalg.solve(system.T, begin).reshape(2, NUM_STATES).sum(axis=0)


@pytest.mark.thorough  # `test_the_update_is_a_maximum…`, and EM of ε above
def test_exact_em_never_lowers_the_likelihood_of_a_staged_chain():
    data_law = jax.jit(STAGED.law)(STAGED.parameters)

    def value(matrix: jax.Array) -> jax.Array:
        return data_law @ jnp.log(STAGED.law({**STAGED.parameters, "C": jnp.log(matrix)}))

    def step(matrix: jax.Array, _: None):
        # A path's log-mass is Σ N log C, so N = C ∂ log-mass/∂C.
        counts = matrix * jax.grad(lambda matrix: data_law @ jnp.log(path_mass(matrix)))(matrix)
        better = em_stage_matrix(counts[None], matrix, restart_stage=1, steps=30)
        return better, (value(matrix), better.sum(axis=1))

    start = jnp.array([[0.2, 0.7, 0.1], [0.5, 0.1, 0.4], [0.1, 0.8, 0.1]])
    climb = jax.jit(lambda start: jax.lax.scan(step, start, None, length=60)[1])
    values, sums = (np.asarray(found, dtype=np.float64) for found in climb(start))
    np.testing.assert_allclose(sums, 1, atol=1e-5)
    assert np.all(np.diff(values) >= -ROUNDING)
    best = float(jax.jit(value)(jax.nn.softmax(STAGED.parameters["C"], axis=-1)))
    assert values[-1] <= best + ROUNDING
    assert best - values[-1] < 0.5 * (best - values[0])


updated = jax.jit(em_stage_matrix, static_argnames="restart_stage")


@pytest.mark.double
@pytest.mark.thorough  # in single precision only
def test_em_keeps_what_is_impossible_impossible():
    cycle = exit_rates(jnp.array([0.3, -1.0]))
    counts = jnp.array([[0, 1.0, 0], [0, 2.0, 0.7], [0, 0, 3.0]])
    found = updated(counts[None], cycle)
    assert np.array_equal(np.asarray(found) > 0, np.asarray(cycle) > 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


@pytest.mark.thorough
def test_the_update_is_a_maximum_and_stage_zero_is_the_restart_unless_told():
    """log π_C(z*) + Σ N log C, with π by numpy: no small change of the rows does better."""
    matrix = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.25, 0.25, 0.5]])
    counts = np.array([[0.4, 1.0, 0.3], [0.7, 0.9, 0.2], [0.5, 0.1, 1.5]])

    def value(rows: np.ndarray, restart: int) -> float:
        law = np.linalg.solve(np.vstack([(rows.T - np.eye(3))[:2], np.ones(3)]), [0, 0, 1])
        return np.log(law[restart]) + np.sum(counts * np.log(rows))

    rng = np.random.default_rng(0)
    for options, restart in (({}, 0), ({"restart_stage": 2}, 2)):
        best = np.array(updated(counts[None], matrix, **options), dtype=np.float64)
        best /= best.sum(axis=1, keepdims=True)
        for _ in range(50):
            other = best * np.exp(0.03 * rng.normal(size=(3, 3)))
            other /= other.sum(axis=1, keepdims=True)
            assert value(other, restart) < value(best, restart)


def test_counts_are_checked():
    with pytest.raises(InputError, match="must end in"):
        em_epsilon(jnp.zeros((3, 3)))


def test_the_derivative_by_epsilon_where_it_is_one():
    """There no walk takes a step, and d log π̃(y)/dε = (u - uA)(y)/u(y) all the same."""
    u, y = np.array([0.5, 0.3, 0.2]), 2
    matrix = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    kernel, restart = FiniteKernel.from_matrix(matrix), FiniteRestart.from_law(u)

    def value(epsilon: jax.Array, key: jax.Array) -> jax.Array:
        estimate = Forward(FixedHorizon(0.5), num_walks=16)(
            key, doeblin(kernel, restart, epsilon), jnp.array(y)
        )
        return estimate.log_likelihood

    slopes = jax.jit(jax.vmap(jax.value_and_grad(value), in_axes=(None, 0)))
    keys = jax.random.split(jax.random.key(0), 400)
    for epsilon in (1.0, 0.75):
        values, found = (np.asarray(a, np.float64) for a in slopes(jnp.array(epsilon), keys))
        law = epsilon * np.linalg.solve(np.eye(3) - (1 - epsilon) * matrix.T, u)
        # π̃ = εu + (1-ε)π̃A, so dπ̃ = u - π̃A + (1-ε)dπ̃A.
        slope = np.linalg.solve(np.eye(3) - (1 - epsilon) * matrix.T, u - matrix.T @ law)
        weights = np.exp(values) / law[y]
        assert abs(weights.mean() - 1) <= 5 * weights.std() / 20 + 1e-6
        products = weights * found
        assert abs(products.mean() - slope[y] / law[y]) <= 5 * products.std() / 20
        assert products.std() / 20 < 0.1
