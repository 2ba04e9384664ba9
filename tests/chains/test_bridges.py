"""To BlackJAX and ArviZ, and back."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

import doeblin
from doeblin import InputError
from doeblin.chains import from_blackjax, to_arviz, to_blackjax
from doeblin.kernels import FunctionRestart

from ..statistics import LEVEL, assert_follows
from .test_chain import SCHEDULES, finite_chain


@pytest.fixture
def blackjax():
    """Imported where it is used: it takes two seconds, and every worker reads this file."""
    import blackjax

    return blackjax


def standard_normal(state, x=None):
    return -0.5 * jnp.sum(state["p"] ** 2)


def test_a_chain_runs_under_blackjax(blackjax):
    chain, law = finite_chain(SCHEDULES["plain"])
    algorithm = to_blackjax(chain)

    def last(key):
        final, (states, info) = blackjax.util.run_inference_algorithm(
            rng_key=key, inference_algorithm=algorithm, num_steps=60, initial_position=jnp.array(0)
        )
        return final.state, states.age, info.restarted

    states, ages, restarted = jax.jit(jax.vmap(last))(jax.random.split(jax.random.key(0), 5_000))
    # After 60 steps at ε = 0.1 the law is within 0.9^60 = 0.002 of π̃: below what is tested.
    assert_follows(states, law.sum(axis=0))
    np.testing.assert_array_equal(np.asarray(ages) == 0, restarted)


@pytest.mark.parametrize(
    "sampler",
    [
        "random walk",
        pytest.param("mala", marks=pytest.mark.thorough),
        pytest.param("hmc", marks=pytest.mark.thorough),
    ],
)
def test_a_blackjax_sampler_serves_as_a_kernel(sampler, blackjax):
    """u and the sampler's target are one normal law, so π̃ is that law, for every ε."""

    def log_density(position):
        return standard_normal(position)

    algorithm = {
        "hmc": lambda: blackjax.hmc(
            log_density, step_size=0.5, inverse_mass_matrix=jnp.ones(1), num_integration_steps=3
        ),
        "mala": lambda: blackjax.mala(log_density, step_size=0.5),
        "random walk": lambda: blackjax.additive_step_random_walk(
            log_density, blackjax.mcmc.random_walk.normal(jnp.ones(1))
        ),
    }[sampler]()
    restart = FunctionRestart(
        lambda key, x: {"p": jax.random.normal(key, (1,))},
        lambda state, x: standard_normal(state) - 0.5 * jnp.log(2 * jnp.pi),
    )
    kernel = from_blackjax(algorithm, standard_normal, reversible=True)
    assert kernel.supports("log_target") and kernel.reverse() is kernel
    draws = doeblin.doeblin(kernel, restart, 0.2).draw(jax.random.key(0), 20_000)
    moved = np.asarray(draws.state["p"][:, 0])[np.asarray(draws.age) > 0]
    assert kstest(moved, norm.cdf).pvalue >= LEVEL


def test_from_blackjax_without_a_density(blackjax):
    algorithm = blackjax.mala(standard_normal, step_size=0.1)
    assert not from_blackjax(algorithm).supports("log_target")
    with pytest.raises(InputError, match="needs the log_density"):
        from_blackjax(algorithm, reversible=True)


def test_runs_go_to_arviz_in_one_call():
    chain, _ = finite_chain(SCHEDULES["cycle"])
    run = jax.vmap(lambda key: chain.run(key, 50))(jax.random.split(jax.random.key(0), 4))
    posterior = to_arviz(run).posterior
    assert posterior["state"].dims == ("chain", "draw")
    assert posterior["state"].shape == (4, 50)
    np.testing.assert_array_equal(posterior["stage"], run.stage)
    np.testing.assert_array_equal(posterior["tour"], run.tour)
    in_last = posterior["state"].where(posterior["stage"] == 2)
    assert int(in_last.notnull().sum()) == int((run.stage == 2).sum())


@pytest.mark.thorough  # as runs do, above
def test_draws_go_to_arviz_in_one_call():
    restart = FunctionRestart(
        lambda key, x: {"a": jax.random.normal(key, (2,)), "b": jnp.array(1)},
        lambda state, x: jnp.array(0.0),
    )
    chain = doeblin.doeblin(doeblin.kernels.Independent(restart), restart, 0.5)
    posterior = to_arviz(chain.draw(jax.random.key(0), 30)).posterior
    assert posterior["a"].shape == (1, 30, 2)
    assert posterior["b"].shape == (1, 30)
    np.testing.assert_array_equal(posterior["tour"][0], np.arange(30))
