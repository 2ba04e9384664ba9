"""Rewards, latent states, kernels without transition probabilities, and approximate gradients."""

from __future__ import annotations

import itertools
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from doeblin import InputError, UnsupportedError
from doeblin.chains import doeblin
from doeblin.kernels import BlockKernel, IndependentSites
from doeblin.learning import (
    ApproximateGibbs,
    Bidirectional,
    Contrastive,
    FixedHorizon,
    PersistentContrastive,
    Reversal,
    edit_distance,
    edit_distance_reward,
    extend_with_zeros,
    fit,
)

from .models import STAGED, Case, assert_gradient, assert_mean, cosine, exact, run

FIXED = FixedHorizon(0.18, steps=24)

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
    moves = (u * weight)[None] / (weight[:, None] + weight[None])
    moves = moves * (1 - jnp.eye(4))
    matrix = moves + jnp.diag(1 - moves.sum(axis=1))
    return 0.18 * jnp.linalg.solve((jnp.eye(4) - 0.82 * matrix).T, u)


BLOCK = Case(
    {"u": jnp.array([[0.3, -0.2], [0.0, 0.5]]), "t": jnp.array([0.1, 1.0, -0.5, 0.8])},
    build_block,
    block_law,
    PAIRS[1],
)


@pytest.mark.thorough
def test_reversal_needs_no_transition_probabilities():
    """The block kernel's is an impossible sum, but its choices have a score."""
    likelihood, gradient = exact(BLOCK, 1)
    runs = run(BLOCK, Reversal(FIXED, normalise="others"), 1000)
    assert_mean(runs.likelihoods, likelihood)
    assert_gradient(runs, likelihood, gradient, "others")
    assert cosine(runs.gradients, gradient) >= 0.995
    with pytest.raises(UnsupportedError, match="BlockKernel has none"):
        Bidirectional(FIXED)(jax.random.key(0), build_block(BLOCK.parameters), PAIRS[0])


def near(y, state, x):
    """A reward that depends on how many of the two sites agree."""
    return jnp.log(jnp.array([0.2, 1.0, 3.0]))[(y == state).sum()]


def own_law() -> np.ndarray:
    """The kernel's own stationary law, without restarts."""
    return np.asarray(jax.nn.softmax(BLOCK.parameters["t"]), dtype=np.float64)


def observed_law() -> np.ndarray:
    return np.eye(4)[1]


def rewarded_law() -> np.ndarray:
    rewards = np.exp([float(near(PAIRS[1], pair, None)) for pair in PAIRS])
    return own_law() * rewards / (own_law() @ rewards)


APPROXIMATE = {
    "CD": (Contrastive(num_steps=60), observed_law),
    "u-Gibbs": (ApproximateGibbs(120), observed_law),
    "basic-Gibbs": (ApproximateGibbs(120, start=lambda key, x: PAIRS[0]), observed_law),
    "u-Gibbs, rewarded": (ApproximateGibbs(40, num_walks=64, log_reward=near), rewarded_law),
}


@pytest.mark.parametrize(
    ("estimator", "first"),
    [
        pytest.param(*both, id=name, marks=() if name == "CD" else pytest.mark.thorough)
        for name, both in APPROXIMATE.items()
    ],
)
def test_long_chains_give_the_gradient_of_the_kernels_own_law(estimator, first):
    """log π̂ is a table here: its gradient is the law of the first term less the second's."""
    runs = run(BLOCK, estimator, 250, chunk=125)
    wanted = first() - own_law()
    # Parameters are raveled by name: those of the density, `t`, come first.
    found = runs.gradients[:, :4]
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - wanted) <= 5 * error + 2e-3)
    assert np.all(runs.gradients[:, 4:] == 0)


def test_short_chains_remember_where_they_started():
    """Two steps of basic-Gibbs from one state and from another differ; of u-Gibbs they cannot."""
    gradients = [
        run(BLOCK, ApproximateGibbs(2, start=lambda key, x, i=i: PAIRS[i]), 125, chunk=125)
        for i in (0, 3)
    ]
    means = [runs.gradients[:, :4].mean(axis=0) for runs in gradients]
    assert np.abs(means[0] - means[1]).max() > 0.1


def test_persistent_chains_go_on():
    estimator = Contrastive(num_steps=2, num_walks=3)
    particles = jnp.zeros((3, 2), jnp.int32)
    chain = build_block(BLOCK.parameters)
    step = eqx.filter_jit(estimator.step)
    estimate, moved = step(jax.random.key(0), chain, PAIRS[1], particles)
    assert moved.shape == (3, 2)
    assert np.isnan(estimate.log_likelihood)
    with pytest.raises(UnsupportedError, match="2 kernels"):
        estimator(jax.random.key(0), STAGED.build(STAGED.parameters), jnp.array(0))


def test_persistent_contrastive_divergence_fits(tmp_path: Path):
    """Its optimum is the data's own frequencies; resumed from a checkpoint, bit by bit the same."""
    frequencies = np.array([10, 40, 20, 30])
    examples = [(None, np.asarray(PAIRS[i])) for i, n in enumerate(frequencies) for _ in range(n)]
    objective = PersistentContrastive(Contrastive(num_steps=1, num_walks=8), build_block)
    start = {**BLOCK.parameters, "t": jnp.zeros(4)}

    def train(epochs: int, path: Path):
        options = {"batch_size": 50, "checkpoint": path, "optimiser": optax.adagrad(0.3)}
        return fit(objective, start, examples, epochs=epochs, **options).parameters["t"]

    path = tmp_path / "killed.safetensors"
    train(3, path)
    found = train(40, path)
    assert np.asarray(found).tobytes() == np.asarray(train(40, tmp_path / "whole")).tobytes()
    law = np.asarray(jax.nn.softmax(found), dtype=np.float64)
    # 800 particles that move half of the time: their own error, at four standard errors.
    error = np.sqrt(frequencies / 100 * (1 - frequencies / 100) / 400)
    assert np.all(np.abs(law - frequencies / 100) <= 4 * error)
    with pytest.raises(InputError, match="no log-likelihood to validate"):
        fit(objective, start, examples, validation=examples)


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
