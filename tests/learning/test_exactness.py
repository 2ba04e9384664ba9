"""Estimators against exact likelihoods and gradients, on plain and staged chains.

The kernels here are not reversible: `Reversal` and `Bidirectional` walk their time reversals.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from doeblin import UnsupportedError
from doeblin.chains import doeblin
from doeblin.kernels import FunctionKernel
from doeblin.learning import (
    AbstractEstimator,
    Bidirectional,
    FixedHorizon,
    Forward,
    Geometric,
    Reversal,
)

from .models import PLAIN, STAGED, Case, assert_mean, cosine, exact, relative_bias, run

FIXED = FixedHorizon(0.18, steps=12)
CASES = {
    "forward, geometric": (PLAIN, Forward(Geometric(0.18))),
    "forward, fixed": (PLAIN, Forward(FIXED)),
    "reversal": (PLAIN, Reversal(FIXED)),
    "bidirectional": (PLAIN, Bidirectional(FIXED)),
    "forward, staged": (STAGED, Forward(FIXED)),
    "reversal, staged": (STAGED, Reversal(FIXED)),
    "bidirectional, staged": (STAGED, Bidirectional(FIXED)),
}


@pytest.mark.parametrize(("case", "estimator"), CASES.values(), ids=CASES.keys())
def test_likelihood_and_gradient_are_right(case: Case, estimator: AbstractEstimator):
    likelihood, gradient = exact(case, case.datum)
    runs = run(case, estimator, jnp.array(case.datum), 4000)
    assert_mean(runs.likelihoods, likelihood)
    assert cosine(runs.gradients.mean(axis=0), gradient) >= 0.995
    # Z·(g/Z) is unbiased: its mean over the mean of Z is the gradient, up to its own error.
    weighted = runs.gradients * runs.likelihoods[:, None]
    error = weighted.std(axis=0, ddof=1) / np.sqrt(len(weighted))
    assert np.all(np.abs(weighted.mean(axis=0) - gradient * likelihood) <= 5.5 * error + 1e-6)


def test_exact_gradients_agree_with_finite_differences():
    for case in (PLAIN, STAGED):
        flat, unravel = ravel_pytree(case.parameters)
        flat = np.asarray(flat, dtype=np.float64)
        _, gradient = exact(case, case.datum)
        for i in range(0, len(flat), 7):
            step = np.zeros(len(flat))
            step[i] = 1e-2
            ends = [
                float(jnp.log(case.law(unravel(jnp.asarray(flat + sign * step)))[case.datum]))
                for sign in (1, -1)
            ]
            np.testing.assert_allclose((ends[0] - ends[1]) / 2e-2, gradient[i], atol=2e-3)


def test_bias_falls_with_the_number_of_walks():
    _, gradient = exact(PLAIN, PLAIN.datum)
    few = run(PLAIN, Reversal(FIXED, num_walks=2, baseline=False), jnp.array(PLAIN.datum), 8000)
    many = run(PLAIN, Reversal(FIXED, num_walks=64), jnp.array(PLAIN.datum), 2000)
    assert relative_bias(many.gradients, gradient) < 0.5 * relative_bias(few.gradients, gradient)


def test_expected_steps_are_the_posterior_mean():
    """∂ log π̃/∂ε = E[1/ε - T/(1-ε) | y], so E[T | y] follows from the exact derivative."""
    _, gradient = exact(PLAIN, PLAIN.datum)
    epsilon = float(jax.nn.sigmoid(PLAIN.parameters["epsilon"]))
    # Parameters are raveled in the order of their names; ε, by its logit, comes last but one.
    slope = gradient[25] / (epsilon * (1 - epsilon))
    expected = (1 / epsilon - slope) * (1 - epsilon)
    runs = run(PLAIN, Reversal(FIXED, num_walks=64), jnp.array(PLAIN.datum), 500)
    weighted = runs.stage_counts.sum(axis=(1, 2)) * runs.likelihoods / runs.likelihoods.mean()
    assert_mean(weighted, expected)


def test_kernels_that_cannot_do_it_are_refused():
    chain = PLAIN.build(PLAIN.parameters)
    blind = doeblin(FunctionKernel(lambda key, state, x: state), chain.restart, 0.1)
    for estimator in (Forward(FIXED), Reversal(FIXED), Bidirectional(FIXED)):
        with pytest.raises(UnsupportedError, match="FunctionKernel has none"):
            estimator(jax.random.key(0), blind, jnp.array(0))
