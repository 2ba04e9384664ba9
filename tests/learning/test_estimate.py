"""What an estimate says of itself, by arithmetic."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from doeblin.learning import FixedHorizon, PathEstimate, Reward

from .models import PLAIN


def estimate(weights: list[float]) -> PathEstimate:
    with np.errstate(divide="ignore"):
        log_weights = jnp.asarray(np.log(weights))
    return PathEstimate(
        jnp.zeros(()), log_weights, jnp.zeros(()), jnp.array([[0.0, 2.0], [0.5, 1]])
    )


def test_errors_and_effective_walks_are_those_of_the_weights():
    """Of 1, 2 and 3 the variance is 1 and the mean 2; they are as good as 36/14 equal ones."""
    found = estimate([1, 2, 3])
    np.testing.assert_allclose(found.standard_error, 1 / 2 / np.sqrt(3), rtol=1e-6)
    np.testing.assert_allclose(found.effective_walks, 36 / 14, rtol=1e-6)
    np.testing.assert_allclose(found.expected_steps, 3.5, rtol=1e-6)


def test_one_walk_and_walks_without_weight():
    assert estimate([5]).standard_error == 0 and estimate([5]).effective_walks == 1
    one_of_two = estimate([0, 5])
    np.testing.assert_allclose(one_of_two.standard_error, 1, rtol=1e-6)
    np.testing.assert_allclose(one_of_two.effective_walks, 1, rtol=1e-6)
    assert estimate([0, 0]).standard_error == np.inf and estimate([0, 0]).effective_walks == 0


def test_what_is_never_rewarded_has_likelihood_zero():
    never = Reward(lambda y, state, x: jnp.array(-jnp.inf), FixedHorizon(0.3, 2), num_walks=2)
    found = jax.jit(lambda key: never(key, PLAIN.build(PLAIN.parameters), jnp.array(0)))
    assert found(jax.random.key(0)).log_likelihood == -np.inf


def test_one_rewarded_walk_has_a_gradient():
    """There is no other walk to take a baseline from."""
    one = Reward(lambda y, state, x: jnp.where(state == y, 0.0, -1.0), FixedHorizon(0.3, 2), 1)

    def value(parameters: dict[str, jax.Array], key: jax.Array) -> jax.Array:
        return one(key, PLAIN.build(parameters), jnp.array(0)).log_likelihood

    slope = jax.jit(jax.grad(value))(PLAIN.parameters, jax.random.key(0))
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(slope))
