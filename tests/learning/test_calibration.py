"""Simulation-based calibration (Talts et al., 2018) of the whole loop.

Parameters from a prior, data by exact draws from the chain that they make, a posterior from
estimated likelihoods: then the rank of the truth among draws from its posterior is uniform. What
such a loop is made of has tests of its own: `test_exactness`, and `test_chain` of the draws.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare, norm

from doeblin.chains import doeblin
from doeblin.kernels import Gibbs, IndependentSites
from doeblin.learning import AbstractEstimator, Bidirectional, FixedHorizon, Forward, Reversal

from ..statistics import LEVEL

EPSILON, NUM_DATA, NUM_RANKS = 0.25, 12, 19
PAIRS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
GRID = np.linspace(-4, 4, 33)
PRIOR = norm.pdf(GRID, scale=1.5) / norm.pdf(GRID, scale=1.5).sum()


def agreement(state, x):
    """The parameter is the input here, so that one program serves all of them."""
    return x * (state[0] == state[1])


CHAIN = doeblin(Gibbs(agreement, 2), IndependentSites(jnp.array([[0.4, 0.0], [0.0, 0.3]])), EPSILON)
HORIZON = FixedHorizon(EPSILON, steps=8)


@pytest.fixture(scope="module")
def simulated() -> tuple[np.ndarray, np.ndarray]:
    """True parameters (as places in the grid), and how often each state was drawn for each."""
    rng = np.random.default_rng(0)
    truth = rng.choice(len(GRID), size=800, p=PRIOR)
    draws = CHAIN.draw_each(jax.random.key(3), NUM_DATA, jnp.asarray(GRID[truth])).state
    numbers = np.asarray(draws) @ np.array([2, 1])
    return truth, np.stack([(numbers == state).sum(axis=1) for state in range(4)], axis=1)


def log_likelihoods(estimator: AbstractEstimator) -> np.ndarray:
    """Of each state, for each parameter of the grid."""

    @eqx.filter_jit
    def table(keys, grid, states):
        def one(key, x, y):
            return estimator(key, CHAIN, y, x).log_likelihood

        return jax.vmap(jax.vmap(one, in_axes=(0, None, 0)), in_axes=(0, 0, None))(
            keys, grid, states
        )

    keys = jax.random.split(jax.random.key(5), (len(GRID), 4))
    return np.asarray(table(keys, jnp.asarray(GRID), jnp.asarray(PAIRS)), dtype=np.float64)


def ranks(truth: np.ndarray, counts: np.ndarray, table: np.ndarray) -> np.ndarray:
    log_posterior = np.log(PRIOR) + counts @ table.T
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    cumulative = np.cumsum(posterior, axis=1)
    rng = np.random.default_rng(1)
    choose = rng.uniform(size=(len(truth), NUM_RANKS)) * cumulative[:, -1:]
    drawn = (choose[:, :, None] >= cumulative[:, None]).sum(axis=2)
    # Parameters lie on a grid: ties are broken at random.
    noise = rng.uniform(size=(len(truth), NUM_RANKS + 1))
    below = (drawn < truth[:, None]) | ((drawn == truth[:, None]) & (noise[:, 1:] < noise[:, :1]))
    return np.bincount(below.sum(axis=1), minlength=NUM_RANKS + 1)


ESTIMATORS = {
    "forward": Forward(HORIZON, num_walks=128),
    "reversal": Reversal(HORIZON, num_walks=128),
    "bidirectional": Bidirectional(HORIZON, num_walks=128),
}


@pytest.mark.thorough
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_ranks_of_the_truth_are_uniform(simulated, estimator: AbstractEstimator):
    table = log_likelihoods(estimator)
    assert chisquare(ranks(*simulated, table)).pvalue > LEVEL
    # A test that can fail: the kernel's own law in place of the chain's is found out.
    own = np.where(np.array([True, False, False, True]), GRID[:, None], 0)
    own -= np.log(np.exp(own).sum(axis=1, keepdims=True))
    assert chisquare(ranks(*simulated, own)).pvalue < LEVEL
