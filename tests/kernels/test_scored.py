"""Steps with the log-probability of their choices, as learning uses them."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import norm

from doeblin import UnsupportedError
from doeblin.kernels import BlockKernel, FunctionKernel, IndependentSites, RandomSites

from ..statistics import LEVEL
from .cases import KERNELS, LOOP, SITE_STATES

NUM_KEYS = 20_000
NAMES = ["Gibbs", "Metropolis", "mixture, inexact"]
MORE = ["ColouredGibbs", "mixture", "repeat", "cycle"]


@pytest.mark.parametrize(
    "name", [*NAMES, *(pytest.param(name, marks=pytest.mark.thorough) for name in MORE)]
)
def test_scores_are_those_of_the_steps_taken(name: str):
    """The step is that of `sample`; scores have mean zero, and given where the step leads they
    average to the gradient of the transition probability (Fisher's identity)."""
    case = KERNELS[name]
    old = jax.tree.map(lambda leaf: leaf[1], case.states)
    parameters, rest = eqx.partition(case.kernel, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(parameters)

    def scored(flat: jax.Array, key: jax.Array):
        new, log_prob = eqx.combine(unravel(flat), rest).sample_scored(key, old, case.x)
        return log_prob, new

    def one(key: jax.Array):
        score, new = jax.grad(scored, has_aux=True)(flat, key)
        same = jax.tree.map(lambda a, b: jnp.all(a == b), new, case.kernel.sample(key, old, case.x))
        stayed = jax.tree.map(lambda a, b: jnp.all(a == b), new, old)
        return score, same, stayed

    keys = jax.random.split(jax.random.key(3), NUM_KEYS)
    scores, same, stayed = jax.jit(jax.vmap(one))(keys)
    assert np.all(jax.tree.leaves(same))
    assert_mean(np.asarray(scores), np.zeros(len(flat)))
    if case.exact:

        def stay(flat: jax.Array) -> jax.Array:
            return jnp.exp(eqx.combine(unravel(flat), rest).log_prob(old, old, case.x))

        given_stay = np.asarray(scores) * np.asarray(jax.tree.leaves(stayed)[0])[:, None]
        assert_mean(given_stay, np.asarray(jax.jit(jax.grad(stay))(flat)))


def assert_mean(samples: np.ndarray, mean: np.ndarray) -> None:
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    limit = norm.isf(LEVEL / 2 / samples.shape[1]) * error
    assert np.all(np.abs(samples.mean(axis=0) - mean) <= limit + 1e-6)


def test_block_law_is_the_conditional_law():
    sites = IndependentSites(jnp.array([[0.1, 0.5, -0.3], [0.2, 0.0, 1.0], [0.0, 0.0, 0.3]]))
    block = jnp.array([True, False, True])
    same = SITE_STATES[:, 1] == 2
    log_probs = jax.jit(jax.vmap(lambda state: sites.log_prob_block(state, block)))(SITE_STATES)
    joint = jax.jit(jax.vmap(sites.log_prob))(SITE_STATES)
    expected = jnp.exp(joint)[same] / jnp.exp(joint)[same].sum()
    np.testing.assert_allclose(jnp.exp(log_probs)[same], expected, rtol=1e-5)


def test_a_law_or_a_score_of_ones_own_is_a_score():
    law = KERNELS["FiniteKernel"].kernel
    assert law.supports("log_prob") and law.supports("sample_scored")
    own = KERNELS["mixture, inexact"].kernel
    assert not own.supports("log_prob") and own.supports("sample_scored")


def test_kernels_without_a_score_say_so():
    class Blind(IndependentSites):
        def supports(self, capability):
            return capability != "log_prob_block" and super().supports(capability)

    assert not FunctionKernel(lambda key, state, x: state).supports("sample_scored")
    block = BlockKernel(Blind(jnp.zeros((3, 3))), LOOP, choose_block=RandomSites((3,)))
    assert not block.supports("sample_scored")
    assert BlockKernel(Blind(jnp.zeros((3, 3))), LOOP).supports("sample_scored")
    with pytest.raises(UnsupportedError, match="log_prob"):
        FunctionKernel(lambda key, state, x: state).sample_scored(jax.random.key(0), jnp.array(0))
