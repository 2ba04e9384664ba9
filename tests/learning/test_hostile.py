"""Attempts to make training, or an estimator, say something wrong without a word."""

from __future__ import annotations

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from doeblin import InputError
from doeblin.chains import doeblin
from doeblin.kernels import FiniteKernel, FiniteRestart, Gibbs, IndependentSites
from doeblin.learning import (
    CollapseWarning,
    Contrastive,
    FixedHorizon,
    Forward,
    PathEstimate,
    RestartLikelihood,
    Reversal,
    fit,
    likelihood,
    log_likelihood,
)

from .models import PLAIN
from .test_fit import SIMPLE, data, start

COMPILED: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **_: COMPILED.append(name) if "backend_compile" in name else None
)


def test_a_second_call_compiles_nothing():
    def train(rate: float, seed: int = 0):
        # All made anew: the objective, the optimiser, the parameters, the data.
        objective = likelihood(RestartLikelihood(), PLAIN.build)
        found = fit(
            objective,
            start(),
            data(24, 0),
            optimiser=optax.chain(optax.clip(1.0), optax.adam(rate)),
            batch_size=8,
            epochs=2,
            validation=data(8, 1),
            seed=seed,
        )
        log_likelihood(objective, found.parameters, data(8, 1))
        return np.asarray(found.parameters["u"])

    first = train(0.1)
    COMPILED.clear()
    assert np.array_equal(first, train(0.1))
    train(0.1, seed=1)
    assert COMPILED == []
    # Another rate is other code, and is not mistaken for it.
    assert not np.allclose(first, train(0.01), atol=1e-3)
    assert COMPILED != []


class Spread(eqx.Module):
    """An objective whose walks weigh as they are told."""

    log_weights: tuple[float, ...] = eqx.field(static=True)

    def __call__(self, key, parameters, example):
        weights = jnp.array(self.log_weights)
        value = parameters.sum() * 0.0
        return PathEstimate(value, weights, jnp.array(1.0), jnp.zeros((2, 2)))


def test_collapse_is_said_once_with_the_number():
    examples = [np.array(i) for i in range(4)]
    with pytest.warns(CollapseWarning, match=r"only 1\.00 of 8 walks.*Bidirectional") as seen:
        fit(Spread((0.0,) + (-50.0,) * 7), jnp.zeros(2), examples, epochs=3)
    assert len([one for one in seen if one.category is CollapseWarning]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Two of four, and a single walk that never had company, are no collapse.
        for weights in ((0.0, 0.0, -50.0, -50.0), (0.0,)):
            fit(Spread(weights), jnp.zeros(2), examples, epochs=1)


class Division(eqx.Module):
    """An objective that divides by the example."""

    def __call__(self, key, parameters, example):
        value = jnp.sum(parameters["w"]) / example
        return PathEstimate(value, jnp.zeros(1), jnp.array(0.0), jnp.zeros((2, 2)))


def _begin(params):
    return eqx.error_if(jnp.zeros(()), params["u"][0] < 9, "there is no such model")


REFUSING = optax.GradientTransformation(_begin, optax.identity().update)

BAD = {
    "NaN in one example": (
        lambda: fit(SIMPLE, start(), [(np.array(x), np.array(0)) for x in (0.0, np.nan, 1.0)]),
        r"example 1 has NaN at \[0\]; fill it in",
    ),
    "a gradient that is not finite": (
        lambda: fit(Division(), {"w": jnp.ones(2)}, [np.array(x) for x in (1.0, 2.0, 0.0, 1.0)]),
        r"example 2 gives a gradient with NaN or infinite numbers \(in \['w'\]\)",
    ),
    "an infinite value": (
        lambda: log_likelihood(Division(), {"w": jnp.ones(2)}, [np.array(1.0), np.array(0.0)]),
        "example 1 has log-likelihood inf",
    ),
    "no value at all": (
        lambda: log_likelihood(likelihood(Contrastive(1, 2), build_one), None, data(2, 0)),
        "example 0 has log-likelihood nan.*contrastive estimators give no",
    ),
    "NaN in the parameters": (
        lambda: fit(SIMPLE, {**start(), "u": jnp.full(5, jnp.nan)}, data(4, 0)),
        r"parameters at \['u'\] have NaN",
    ),
    "a penalty that is not finite": (
        lambda: fit(SIMPLE, start(), data(4, 0), penalty=lambda p: jnp.sqrt(jnp.sum(p["u"] ** 2))),
        "gradient of the penalty",
    ),
    "a penalty that is not finite, though its gradient is": (
        lambda: fit(SIMPLE, start(), data(4, 0), penalty=lambda p: jnp.sum(p["u"]) + jnp.inf),
        "the penalty, the gradient of the penalty",
    ),
    "a penalty for each parameter": (
        lambda: fit(SIMPLE, start(), data(4, 0), penalty=lambda p: p["u"] ** 2),
        r"penalty\(parameters\) = float(32|64)\[5\] must be one real number",
    ),
    "a penalty that is none": (
        lambda: fit(SIMPLE, start(), data(4, 0), penalty=lambda p: None),
        r"penalty\(parameters\) = None must be one real number",
    ),
    "complex parameters": (
        lambda: fit(SIMPLE, {**start(), "z": jnp.ones(2, complex)}, data(4, 0)),
        r"parameters at \['z'\] are complex",
    ),
    "a line search": (
        lambda: fit(SIMPLE, start(), data(4, 0), optimiser=optax.lbfgs()),
        "asks for more than a gradient",
    ),
    "an optimiser that refuses to begin": (
        lambda: fit(SIMPLE, start(), data(4, 0), optimiser=optax.chain(REFUSING)),
        "^there is no such model$",
    ),
    "a label that there is none of": (
        lambda: fit(SIMPLE, start(), [(None, np.array(y)) for y in (0, 1, 5, 2)]),
        "example 2 has log-likelihood -inf: .*outside of the state space",
    ),
    "a datum that there is none of": (
        lambda: log_likelihood(SIMPLE, start(), [(None, np.array(y)) for y in (0, -1)]),
        "example 1 has log-likelihood -inf: .*outside of the state space",
    ),
    "nothing to train": (
        lambda: fit(SIMPLE, {"u": jnp.zeros(5, jnp.int32)}, data(4, 0)),
        "nothing to train",
    ),
}


def build_one(parameters):
    """A space of one state."""
    return doeblin(FiniteKernel(jnp.zeros((1, 1))), FiniteRestart(jnp.zeros(1)), 0.3)


@pytest.mark.parametrize(("attempt", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_not_finite_is_refused_by_name(attempt, message: str):
    with pytest.raises(InputError, match=message) as refusal:
        attempt()
    assert "\n" not in str(refusal.value)


def build_at(epsilon: float, scale: float = 1.0):
    p = PLAIN.parameters
    return doeblin(FiniteKernel(p["A"]), FiniteRestart(scale * p["u"]), epsilon)


@eqx.filter_jit
def many(estimator, chain, y):
    keys = jax.random.split(jax.random.key(0), 400)
    return jax.vmap(lambda key: estimator(key, chain, y).log_likelihood)(keys)


@pytest.mark.thorough  # ε = 1 is in `test_rates.py`, too
@pytest.mark.parametrize("kind", [Forward, Reversal])
def test_extreme_rates_and_a_single_walk(kind):
    """ε = 1 is the restart alone; small and large ones with the horizon of the small."""
    estimator = kind(FixedHorizon(0.05, steps=20), num_walks=1)
    p, y = PLAIN.parameters, jnp.array(2)
    only = many(estimator, build_at(1.0), y)
    np.testing.assert_allclose(only, jax.nn.log_softmax(p["u"])[2], rtol=1e-4)
    for epsilon in (0.05, 0.999):
        matrix = np.asarray(jax.nn.softmax(p["A"], axis=-1), np.float64)
        u = np.asarray(jax.nn.softmax(p["u"]), np.float64)
        law = epsilon * np.linalg.solve((np.eye(5) - (1 - epsilon) * matrix).T, u)
        values = np.exp(np.asarray(many(estimator, build_at(epsilon), y), np.float64))
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert abs(values.mean() - law[2]) <= 5 * error + 1e-5


@pytest.mark.thorough  # `tests/chains/test_hostile.py` draws from one
def test_one_state_has_probability_one():
    estimator = Reversal(FixedHorizon(0.3, steps=4), num_walks=64)
    value = many(estimator, build_one(None), jnp.array(0))
    # Only how far the two tails go is random.
    np.testing.assert_allclose(np.exp(np.asarray(value)).mean(), 1, atol=0.05)


def test_weights_that_overflow_outside_of_logarithms():
    """log u and log π̂ of -1000: the likelihood underflows, its logarithm does not."""
    kernel = Gibbs(lambda state, x: -1000.0 * state[0], 2)
    chain = doeblin(kernel, IndependentSites(jnp.array([[0.0, -1000.0]])), 0.3)
    estimator = Reversal(FixedHorizon(0.3, steps=4), num_walks=64)
    found = np.asarray(many(estimator, chain, jnp.array([1])))
    np.testing.assert_allclose(found.mean(), -1000.0, atol=0.1)
