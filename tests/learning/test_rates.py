"""Learning ε and stage matrices by EM; by gradient they are learned in `test_exactness`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.learning import FixedHorizon, Reversal, em_epsilon, em_stage_matrix, exit_rates

from .models import NUM_STATES, PLAIN, STAGED, Case

ESTIMATOR = Reversal(FixedHorizon(0.18, steps=20), num_walks=512)


def counts_of(case: Case) -> Callable[[Any, jax.Array, jax.Array], jax.Array]:
    """Expected stage counts of each possible datum, weighted to stand for the data's law."""

    @jax.jit
    def counts(parameters: Any, data_law: jax.Array, key: jax.Array) -> jax.Array:
        chain = case.build(parameters)
        keys = jax.random.split(key, NUM_STATES)
        found = jax.vmap(lambda key, y: ESTIMATOR(key, chain, y).stage_counts)(
            keys, jnp.arange(NUM_STATES)
        )
        return found * data_law[:, None, None] * NUM_STATES

    return counts


def test_em_finds_the_epsilon_of_the_data():
    data_law = PLAIN.law(PLAIN.parameters)
    counts = counts_of(PLAIN)

    def expected(logit: jax.Array) -> float:
        return float(data_law @ jnp.log(PLAIN.law({**PLAIN.parameters, "epsilon": logit})))

    logit, values = jnp.array(1.0), []
    for i in range(50):
        values.append(expected(logit))
        found = counts({**PLAIN.parameters, "epsilon": logit}, data_law, jax.random.key(i))
        epsilon = em_epsilon(found)
        logit = jnp.log(epsilon / (1 - epsilon))
    best = expected(PLAIN.parameters["epsilon"])
    # Monotone up to the estimates' own noise, and at the top in the end.
    assert np.all(np.diff(values) > -2e-4)
    assert best - values[0] > 5e-3
    assert best - values[-1] < 0.1 * (best - values[0])


def test_em_never_lowers_the_likelihood_of_a_staged_chain():
    data_law = STAGED.law(STAGED.parameters)
    counts = counts_of(STAGED)

    def with_matrix(matrix: jax.Array) -> dict[str, jax.Array]:
        return {**STAGED.parameters, "C": jnp.log(matrix)}

    def expected(matrix: jax.Array) -> float:
        return float(data_law @ jnp.log(STAGED.law(with_matrix(matrix))))

    matrix = jnp.array([[0.2, 0.7, 0.1], [0.5, 0.1, 0.4], [0.1, 0.8, 0.1]])
    update = jax.jit(lambda found, matrix: em_stage_matrix(found, matrix, restart_stage=1))
    values = [expected(matrix)]
    for i in range(25):
        found = counts(with_matrix(matrix), data_law, jax.random.key(i))
        matrix = update(found, matrix)
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
        values.append(expected(matrix))
    best = expected(jax.nn.softmax(STAGED.parameters["C"], axis=-1))
    assert np.all(np.diff(values) > -2e-4)
    assert values[-1] - values[0] > 0.3 * (best - values[0])


def test_em_keeps_what_is_impossible_impossible():
    cycle = exit_rates(jnp.array([0.3, -1.0]))
    counts = jnp.array([[0, 1.0, 0], [0, 2.0, 0.7], [0, 0, 3.0]])
    found = em_stage_matrix(counts, cycle)
    assert np.array_equal(np.asarray(found) > 0, np.asarray(cycle) > 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


def test_counts_are_checked():
    with pytest.raises(InputError, match="must end in"):
        em_epsilon(jnp.zeros((3, 3)))
