"""Estimators against exact likelihoods and gradients, on plain and staged chains, for all data.

The kernels here are not reversible: `Reversal` and `Bidirectional` walk their time reversals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from doeblin import InputError, UnsupportedError
from doeblin.chains import doeblin
from doeblin.kernels import AbstractRestart, FunctionKernel
from doeblin.learning import (
    AbstractEstimator,
    Bidirectional,
    FixedHorizon,
    Forward,
    Geometric,
    Reversal,
    Reward,
)

from .models import (
    NUM_STATES,
    PLAIN,
    STAGED,
    Case,
    assert_gradient,
    assert_mean,
    cosine,
    exact,
    run,
)

NUM_RUNS = 1000
FIXED = FixedHorizon(0.18, steps=12)
REWARDS = jnp.asarray(np.random.default_rng(2).uniform(0.1, 3, size=(NUM_STATES, NUM_STATES)))


class Parity(AbstractRestart):
    """Latent states: only whether a state is odd is seen. All that are possible are alike."""

    def sample(self, key, x=None):
        _, y = x
        return y + 2 * jax.random.randint(key, (), 0, jnp.where(y == 0, 3, 2))

    def log_prob(self, state, x=None):
        _, y = x
        return jnp.where(state % 2 == y, -jnp.log(jnp.where(y == 0, 3, 2)), -jnp.inf)


def rewarded(y, state, x):
    return jnp.log(REWARDS[y, state])


class Kind(NamedTuple):
    """An estimator at the default of 16 walks, of what it is one, and for which data."""

    case: Case
    estimator: Forward | Reversal | Bidirectional | Reward
    chance: Callable[[jax.Array, Any], jax.Array] = lambda law, y: law[y]
    data: int = NUM_STATES
    num_runs: int = NUM_RUNS


def parity(law: jax.Array, y: Any) -> jax.Array:
    return jnp.where(jnp.arange(NUM_STATES) % 2 == y, law, 0).sum()


def reward(law: jax.Array, y: Any) -> jax.Array:
    return law @ REWARDS[y]


HIDDEN = {"proposal": Parity(), "normalise": "others"}
# Self-normalised where that is the default, and by the other walks where states are latent, hits
# are rewarded, or the law of the horizon is the paper's: so k = 16 is enough everywhere.
KINDS = {
    "forward": Kind(PLAIN, Forward(FIXED)),
    "reversal": Kind(PLAIN, Reversal(FIXED)),
    "bidirectional": Kind(PLAIN, Bidirectional(FIXED)),
    "reward": Kind(PLAIN, Reward(rewarded, FIXED, normalise="others"), reward),
    "forward, geometric": Kind(PLAIN, Forward(Geometric(0.18), normalise="others")),
    "forward, five tails": Kind(
        PLAIN, Forward(FixedHorizon(0.18, steps=2), num_walks=160, normalise="others")
    ),
    "forward, staged": Kind(STAGED, Forward(FIXED)),
    # The cosine of 1000 runs still has a standard error of 0.002 here.
    "reversal, staged": Kind(STAGED, Reversal(FIXED), num_runs=3000),
    "bidirectional, staged": Kind(STAGED, Bidirectional(FIXED)),
    "reward, staged": Kind(
        STAGED, Reward(rewarded, FIXED, normalise="others"), reward, num_runs=3000
    ),
    "forward, staged, latent": Kind(STAGED, Forward(FIXED, **HIDDEN), parity, 2),
    "reversal, staged, latent": Kind(STAGED, Reversal(FIXED, **HIDDEN), parity, 2, 3000),
    "bidirectional, latent": Kind(PLAIN, Bidirectional(FIXED, **HIDDEN), parity, 2),
}


MARKS = {
    "reversal": pytest.mark.double,
    "bidirectional": pytest.mark.thorough,  # its values are in `test_support.py`, on what is harder
    "forward, staged, latent": pytest.mark.thorough,
    "reversal, staged": pytest.mark.thorough,
    "forward, geometric": pytest.mark.thorough,
    "forward, five tails": pytest.mark.thorough,
    "forward, staged": pytest.mark.thorough,
    "bidirectional, staged": pytest.mark.thorough,
    "reward, staged": pytest.mark.thorough,
    "reversal, staged, latent": pytest.mark.thorough,
    "bidirectional, latent": pytest.mark.thorough,
}


def parts() -> Iterator[Any]:
    """One of the data, and the others, which see the same program: these are left to `thorough`."""
    for name, kind in KINDS.items():
        yield pytest.param(kind, range(1), id=name, marks=MARKS.get(name, ()))
        others = f"{name}, other data"
        yield pytest.param(kind, range(1, kind.data), id=others, marks=pytest.mark.thorough)


@pytest.mark.parametrize(("kind", "data"), parts())
def test_likelihood_and_gradient_are_right(kind: Kind, data: range):
    for y in data:
        likelihood, gradient = exact(kind.case, y, kind.chance)
        runs = run(kind.case, kind.estimator, kind.num_runs, y=y)
        assert_mean(runs.likelihoods, likelihood)
        assert_gradient(runs, likelihood, gradient, kind.estimator.normalise)
        assert cosine(runs.gradients, gradient) >= 0.995


def test_noise_shrinks_with_the_number_of_walks():
    """Most of the mass lies beyond the common steps: all noise would stay if tails did not grow."""

    def spread(num_walks: int) -> float:
        estimator = Forward(FixedHorizon(0.18, steps=2), num_walks=num_walks)

        def value(key: jax.Array) -> jax.Array:
            chain = PLAIN.build(PLAIN.parameters)
            return jnp.exp(estimator(key, chain, jnp.array(0)).log_likelihood)

        keys = jax.random.split(jax.random.key(14), 500)
        values = np.asarray(jax.jit(jax.vmap(value))(keys), np.float64)
        assert_mean(values, float(PLAIN.law(PLAIN.parameters)[0]))
        return values.var(ddof=1)

    # Of independent walks 8; the standard error of such a ratio is about a tenth of it.
    assert 5 < spread(64) / spread(512) < 12


@pytest.mark.thorough
def test_likelihood_by_both_ways_through_stages_is_right():
    """The value alone, which compiles in a third of the time of its gradient."""

    def value(key: jax.Array, y: jax.Array) -> jax.Array:
        chain = STAGED.build(STAGED.parameters)
        return jnp.exp(Bidirectional(FIXED)(key, chain, y).log_walk_weights).mean()

    keys = jax.random.split(jax.random.key(13), 500)
    each = jax.vmap(jax.vmap(value, in_axes=(0, None)), in_axes=(None, 0))
    values = np.asarray(jax.jit(each)(keys, jnp.arange(NUM_STATES)), np.float64)
    for found, law in zip(values, STAGED.law(STAGED.parameters), strict=True):
        assert_mean(found, float(law))


def spelled(y, state, x):
    """The paper's reward, for words of one letter; mild ones, as above, bias too little to see."""
    return jnp.where(state == y, 0.0, -2.0)


def spelled_chance(law: jax.Array, y: Any) -> jax.Array:
    return law[y] + jnp.exp(-2.0) * (1 - law[y])


BIASED = {
    "forward": (KINDS["forward"], Forward(FIXED, num_walks=2)),
    "reversal": (KINDS["reversal"], Reversal(FIXED, num_walks=2)),
    "bidirectional": (KINDS["bidirectional"], Bidirectional(FIXED, num_walks=2)),
    "reward": (
        Kind(PLAIN, Reward(spelled, FIXED), spelled_chance),
        Reward(spelled, FIXED, num_walks=2),
    ),
}


@pytest.mark.parametrize(
    ("kind", "few"),
    [pytest.param(*both, id=name, marks=pytest.mark.thorough) for name, both in BIASED.items()],
)
def test_bias_falls_as_walks_are_added(kind: Kind, few: AbstractEstimator):
    """From 2 walks to 16, and nothing else changed: by more than chance, summed over all data."""
    falls, variances = [], []
    for y in range(NUM_STATES):
        _, gradient = exact(kind.case, y, kind.chance)
        size = np.linalg.norm(gradient)
        errors = (run(kind.case, few, 4000, y=y).gradients - gradient) / size
        fewer = (run(kind.case, kind.estimator, NUM_RUNS, y=y).gradients - gradient) / size
        # Where the bias of few walks points is found from one half of the runs, its length from
        # the other.
        towards = errors[:2000].mean(axis=0)
        towards /= np.linalg.norm(towards)
        before, after = errors[2000:] @ towards, fewer @ towards
        falls.append(before.mean() - abs(after.mean()))
        variances += [part.var(ddof=1) / len(part) for part in (before, after)]
    assert sum(falls) > 3 * np.sqrt(sum(variances))


def test_exact_gradients_agree_with_finite_differences():
    for case in (PLAIN, STAGED):
        flat, unravel = ravel_pytree(case.parameters)
        flat = np.asarray(flat, dtype=np.float64)
        value = jax.jit(lambda flat, case=case, unravel=unravel: jnp.log(case.law(unravel(flat))))
        gradients = [exact(case, y)[1] for y in range(NUM_STATES)]
        for i in range(len(flat)):
            step = np.zeros(len(flat))
            step[i] = 1e-2
            slopes = (value(jnp.asarray(flat + step)) - value(jnp.asarray(flat - step))) / 2e-2
            np.testing.assert_allclose(slopes, [g[i] for g in gradients], atol=2e-3)


@pytest.mark.thorough
def test_expected_steps_are_the_posterior_mean():
    """∂ log π̃/∂ε = E[1/ε - T/(1-ε) | y], so E[T | y] follows from the exact derivative."""
    epsilon = float(jax.nn.sigmoid(PLAIN.parameters["epsilon"]))
    for y in range(NUM_STATES):
        likelihood, gradient = exact(PLAIN, y)
        # Parameters are raveled in the order of their names; ε, by its logit, comes last but one.
        slope = gradient[25] / (epsilon * (1 - epsilon))
        expected = (1 / epsilon - slope) * (1 - epsilon)
        runs = run(PLAIN, Reversal(FIXED), NUM_RUNS, y=y)
        weighted = runs.stage_counts.sum(axis=(1, 2)) * runs.likelihoods / likelihood
        assert_mean(weighted, expected)


def test_kernels_that_cannot_do_it_are_refused():
    chain = PLAIN.build(PLAIN.parameters)
    blind = doeblin(FunctionKernel(lambda key, state, x: state), chain.restart, 0.1)
    for estimator in (Forward(FIXED), Reversal(FIXED), Bidirectional(FIXED)):
        with pytest.raises(UnsupportedError, match="FunctionKernel has none"):
            estimator(jax.random.key(0), blind, jnp.array(0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Forward(FIXED, num_walks=2.5), "num_walks = 2.5 must be a whole number"),  # pyright: ignore
        (lambda: Reversal(0.3), r"0.3 is not a horizon; write FixedHorizon\(epsilon\)"),  # pyright: ignore
        (lambda: FixedHorizon(0.3, steps=2.7), "steps = 2.7 must be a whole number"),  # pyright: ignore
        (lambda: FixedHorizon(0.3, steps=0), "steps = 0 must be at least 1"),
    ],
)
def test_bad_options_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("y", [jnp.array([1, 2]), (jnp.array(1),), {"a": jnp.array(1)}])
def test_data_that_are_no_states_are_refused(y):
    chain = PLAIN.build(PLAIN.parameters)
    for estimator in (Forward(FIXED), Reversal(FIXED), Bidirectional(FIXED)):
        with pytest.raises(InputError, match=r"the datum has shape .*states of shape \(\)"):
            estimator(jax.random.key(0), chain, y)


def test_unknown_normalisations_are_refused():
    with pytest.raises(InputError, match="must be 'others' or 'all'"):
        Reversal(FIXED, normalise="none")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.18, 0.7, 0.99])
def test_tapes_hold_every_length_that_can_be_drawn(epsilon: float):
    """Uniform float32s reach 1 - 2^-23, so exponential ones reach 15.94 and no further."""
    longest = np.floor(np.float32(23 * np.log(2)) / np.float32(-np.log1p(-epsilon)))
    for horizon, begin in ((Geometric(epsilon), 0), (FixedHorizon(epsilon, 7), 8)):
        assert begin + longest <= sum(steps for _, steps in horizon.segments(16))
    for num_walks, tails in ((16, 2), (95, 2), (96, 3), (1, 1)):
        lengths = FixedHorizon(epsilon, 7).lengths(jax.random.key(0), num_walks)
        assert np.all(lengths[tails:] == 7) and np.all(lengths[:tails] > 7)


@pytest.mark.parametrize("num_walks", [2, 3, 5, 64, pytest.param(300, marks=pytest.mark.thorough)])
def test_walks_that_go_on_have_lanes(num_walks: int):
    """At every step at least as many as walks are under way, of ten thousand sets of them."""
    for horizon in (Geometric(0.1), FixedHorizon(0.1, 7)):
        keys = jax.random.split(jax.random.key(num_walks), 10_000)
        drawn = jax.jit(jax.vmap(lambda key, h=horizon: h.lengths(key, num_walks)))
        lengths = np.asarray(drawn(keys))
        lanes = np.repeat(*np.transpose(horizon.segments(num_walks)))
        assert lanes[0] == num_walks and lengths.max() <= len(lanes)
        for step in range(lengths.max()):
            assert (lengths > step).sum(axis=1).max() <= lanes[step], (horizon, step)
