"""Rewards, latent states, kernels without transition probabilities, and approximate gradients."""

from __future__ import annotations

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from doeblin import InputError, UnsupportedError
from doeblin.chains import doeblin
from doeblin.kernels import AbstractRestart, BlockKernel, IndependentSites
from doeblin.learning import (
    ApproximateGibbs,
    Bidirectional,
    Contrastive,
    FixedHorizon,
    Forward,
    Reversal,
    Reward,
    edit_distance,
    edit_distance_reward,
    extend_with_zeros,
)

from .models import NUM_STATES, PLAIN, STAGED, Case, Runs, assert_mean, cosine, run

FIXED = FixedHorizon(0.18, steps=24)


def check(runs: Runs, likelihood: float, gradient: np.ndarray) -> None:
    assert_mean(runs.likelihoods, likelihood)
    weighted = runs.gradients * runs.likelihoods[:, None]
    error = weighted.std(axis=0, ddof=1) / np.sqrt(len(weighted))
    assert np.all(np.abs(weighted.mean(axis=0) - gradient * likelihood) <= 5.5 * error + 1e-6)
    assert cosine(runs.gradients.mean(axis=0), gradient) >= 0.995


def exact(case: Case, value) -> tuple[float, np.ndarray]:
    found, slope = jax.value_and_grad(lambda p: jnp.log(value(case.law(p))))(case.parameters)
    return float(jnp.exp(found)), np.asarray(ravel_pytree(slope)[0], dtype=np.float64)


def test_reward_is_the_gradient_of_the_expected_reward():
    table = jnp.asarray(np.random.default_rng(2).uniform(0.1, 3, size=(NUM_STATES, NUM_STATES)))
    estimator = Reward(lambda y, state, x: jnp.log(table[y, state]), FIXED, num_walks=32)
    likelihood, gradient = exact(PLAIN, lambda law: law @ table[1])
    check(run(PLAIN, estimator, jnp.array(1), 4000), likelihood, gradient)


class Halves(AbstractRestart):
    """States given what is seen of them, state // 2: each of the pair alike."""

    def sample(self, key, x=None):
        _, y = x
        return 2 * y + jax.random.randint(key, (), 0, 2)

    def log_prob(self, state, x=None):
        _, y = x
        return jnp.where(state // 2 == y, -jnp.log(2.0), -jnp.inf)


@pytest.mark.parametrize("estimator", [Forward, Reversal], ids=["forward", "reversal"])
def test_latent_states_are_summed_over(estimator):
    likelihood, gradient = exact(STAGED, lambda law: law[2] + law[3])
    latent = estimator(FIXED, num_walks=64, proposal=Halves())
    check(run(STAGED, latent, jnp.array(1), 3000), likelihood, gradient)


PAIRS = jnp.array(list(itertools.product(range(2), repeat=2)))


class Table(eqx.Module):
    table: jax.Array

    def __call__(self, state, x=None):
        return self.table[2 * state[0] + state[1]]


def build_block(p):
    restart = IndependentSites(p["u"])
    return doeblin(BlockKernel(restart, Table(p["t"]), num_proposals=1), restart, 0.18)


def block_law(p):
    """One proposal from u, picked with probability w'/(w + w') for w = π̂/u."""
    u = jnp.exp(jax.vmap(IndependentSites(p["u"]).log_prob)(PAIRS))
    weight = jnp.exp(p["t"]) / u
    moves = u * weight / (weight[:, None] + weight)
    moves = moves * (1 - jnp.eye(4))
    matrix = moves + jnp.diag(1 - moves.sum(axis=1))
    return 0.18 * jnp.linalg.solve((jnp.eye(4) - 0.82 * matrix).T, u)


BLOCK = Case(
    {"u": jnp.array([[0.3, -0.2], [0.0, 0.5]]), "t": jnp.array([0.1, 1.0, -0.5, 0.8])},
    build_block,
    block_law,
    datum=1,
)


def test_reversal_needs_no_transition_probabilities():
    """The block kernel's is an impossible sum, but its choices have a score."""
    likelihood, gradient = exact(BLOCK, lambda law: law[BLOCK.datum])
    check(run(BLOCK, Reversal(FIXED), PAIRS[BLOCK.datum], 4000), likelihood, gradient)
    with pytest.raises(UnsupportedError, match="BlockKernel has none"):
        Bidirectional(FIXED)(jax.random.key(0), build_block(BLOCK.parameters), PAIRS[0])


@pytest.mark.parametrize(
    "estimator", [Contrastive(num_steps=60), ApproximateGibbs(120)], ids=["CD", "u-Gibbs"]
)
def test_long_contrastive_chains_give_the_gradient_of_the_kernels_own_law(estimator):
    runs = run(BLOCK, estimator, PAIRS[1], 500)
    target = np.eye(4)[1] - np.asarray(jax.nn.softmax(BLOCK.parameters["t"]))
    # Parameters are raveled by name: those of the density, `t`, come first.
    for found, wanted in zip(runs.gradients[:, :4].T, target, strict=True):
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert abs(found.mean() - wanted) <= 5.5 * error + 1e-3
    assert np.all(runs.gradients[:, 4:] == 0)


def test_persistent_chains_go_on():
    estimator = Contrastive(num_steps=2, num_walks=3)
    particles = jnp.zeros((3, 2), jnp.int32)
    chain = build_block(BLOCK.parameters)
    estimate, moved = estimator.step(jax.random.key(0), chain, PAIRS[1], particles)
    assert moved.shape == (3, 2)
    assert np.isnan(estimate.log_likelihood)
    with pytest.raises(UnsupportedError, match="2 kernels"):
        estimator(jax.random.key(0), STAGED.build(STAGED.parameters), jnp.array(0))


def levenshtein(a: list[int], b: list[int]) -> int:
    """The textbook's recursion."""
    if not a or not b:
        return len(a) + len(b)
    return min(
        levenshtein(a[1:], b) + 1,
        levenshtein(a, b[1:]) + 1,
        levenshtein(a[1:], b[1:]) + (a[0] != b[0]),
    )


def test_edit_distance():
    rng = np.random.default_rng(0)
    distance = jax.jit(edit_distance)
    for _ in range(50):
        a, b = rng.integers(0, 3, size=5), rng.integers(0, 3, size=4)
        n, m = rng.integers(0, 6), rng.integers(0, 5)
        expected = levenshtein(a[:n].tolist(), b[:m].tolist())
        assert distance(jnp.asarray(a), jnp.asarray(b), n, m) == expected
    reward = edit_distance_reward()
    assert reward(jnp.array([1, 2]), jnp.array([1, 2]), None) == 0
    assert reward(jnp.array([1, 2]), jnp.array([2, 2]), None) == -2


def test_extending_with_zeros():
    small = {"w": jnp.ones((2, 2)), "b": jnp.array(3.0)}
    large = {"w": jnp.full((3, 2), 9.0), "b": jnp.array(0.0), "new": jnp.ones(2)}
    found = extend_with_zeros(small, large)
    assert found["w"].tolist() == [[1, 1], [1, 1], [0, 0]]
    assert found["b"] == 3 and found["new"].tolist() == [0, 0]
    with pytest.raises(InputError, match="does not fit"):
        extend_with_zeros(large, large | {"w": jnp.ones((1, 1))})
    with pytest.raises(InputError, match="no parameters at"):
        extend_with_zeros({"other": jnp.ones(1)}, large)
