"""Restarts with mass on states of zero density: no walk back in time begins there.

Two sites of two values. All laws are those of matrices, written down state by state.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.chains import Chain, doeblin
from doeblin.kernels import AbstractRestart, FiniteKernel, FiniteRestart, Gibbs, IndependentSites
from doeblin.learning import (
    AbstractEstimator,
    Bidirectional,
    FixedHorizon,
    Geometric,
    Reversal,
    likelihood,
    log_likelihood,
)

from .models import Case, assert_gradient, assert_mean, exact, run

PAIRS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
EPSILON = 0.18
FIXED = FixedHorizon(EPSILON, steps=12)


class Hard(eqx.Module):
    """A table of log-densities that rules out one state."""

    table: jax.Array
    without: int = eqx.field(static=True)

    def __call__(self, state, x=None):
        number = 2 * state[0] + state[1]
        return jnp.where(number == self.without, -jnp.inf, self.table[number])


class Pairs(AbstractRestart):
    """A law over the pairs other than (1, 1)."""

    logits: jax.Array

    def sample(self, key, x=None):
        return jnp.asarray(PAIRS)[jax.random.categorical(key, self.logits)]

    def log_prob(self, state, x=None):
        number = 2 * state[0] + state[1]
        logs = jax.nn.log_softmax(self.logits)
        return jnp.where(number == 3, -jnp.inf, logs[jnp.minimum(number, 2)])


def gibbs_matrix(table: jax.Array, without: int) -> jax.Array:
    """Choose a site, redraw it given the other one."""
    hard = jnp.where(jnp.arange(4) == without, -jnp.inf, table)
    rows = []
    for number in range(4):
        row = jnp.zeros(4)
        for other in (number ^ 1, number ^ 2):
            own = jax.nn.softmax(jnp.stack([hard[number], hard[other]]))
            row = row.at[number].add(own[0] / 2).at[other].add(own[1] / 2)
        rows.append(row)
    return jnp.stack(rows)


def free_law(logits: jax.Array) -> jax.Array:
    sites = jax.nn.softmax(logits, axis=-1)
    return jnp.outer(sites[0], sites[1]).ravel()


def build_plain(p):
    return doeblin(Gibbs(Hard(p["t"], 3), 2), IndependentSites(p["u"]), EPSILON)


def plain_law(p):
    system = jnp.eye(4) - (1 - EPSILON) * gibbs_matrix(p["t"], 3)
    return EPSILON * jnp.linalg.solve(system.T, free_law(p["u"]))


def build_inside(p):
    return doeblin(Gibbs(Hard(p["t"], 3), 2), Pairs(p["u"]), EPSILON)


def inside_law(p):
    u = jnp.append(jax.nn.softmax(p["u"]), 0.0)
    system = jnp.eye(4) - (1 - EPSILON) * gibbs_matrix(p["t"], 3)
    return EPSILON * jnp.linalg.solve(system.T, u)


STAGES = jnp.array([[0.3, 0.5, 0.2], [0.1, 0.5, 0.4], [0.4, 0.3, 0.3]])


def build_staged(p):
    """Each kernel goes where the other one cannot return from."""
    kernels = (Gibbs(Hard(p["t"], 3), 2), Gibbs(Hard(p["t"], 0), 2))
    return Chain(STAGES, (None, *kernels), IndependentSites(p["u"]), 0)


def staged_law(p):
    rows = jnp.tile(free_law(p["u"]), (4, 1))
    parts = jnp.stack([rows, gibbs_matrix(p["t"], 3), gibbs_matrix(p["t"], 0)])
    joint = jnp.einsum("ab,bij->aibj", STAGES, parts).reshape(12, 12)
    system = (joint.T - jnp.eye(12)).at[0].set(1.0)
    return jnp.linalg.solve(system, jnp.zeros(12).at[0].set(1.0)).reshape(3, 4).sum(axis=0)


PARAMETERS = {
    "t": jnp.array([0.3, 1.0, -0.4, 0.6]),
    "u": jnp.array([[0.0, -0.5], [0.2, 0.6]]),
}
INSIDE = {**PARAMETERS, "u": jnp.array([0.2, -0.4, 0.5])}
CASES: dict[str, tuple] = {
    "bidirectional": (PARAMETERS, build_plain, plain_law, Bidirectional(FIXED), (0, 3)),
    "bidirectional, other data": (
        PARAMETERS,
        build_plain,
        plain_law,
        Bidirectional(FIXED),
        (1, 2),
    ),
    "bidirectional, staged, geometric": (
        PARAMETERS,
        build_staged,
        staged_law,
        Bidirectional(Geometric(0.15), num_walks=16),
        (0, 3),
    ),
    "reversal, no mass outside": (INSIDE, build_inside, inside_law, Reversal(FIXED), range(3)),
}


def test_values_are_right():
    """The values alone, which compile in a third of the time of their gradients."""

    @jax.jit
    def values(keys: jax.Array, y: jax.Array) -> jax.Array:
        chain = build_plain(PARAMETERS)
        return jax.vmap(lambda key: jnp.exp(Bidirectional(FIXED)(key, chain, y).log_likelihood))(
            keys
        )

    law = jax.jit(plain_law)(PARAMETERS)
    for y in (0, 3):
        found = values(jax.random.split(jax.random.key(11), 500), jnp.asarray(PAIRS[y]))
        assert_mean(np.asarray(found, np.float64), float(law[y]))


@pytest.mark.thorough  # the test above
@pytest.mark.parametrize(
    ("parameters", "build", "law", "estimator", "data"), CASES.values(), ids=CASES.keys()
)
def test_values_and_gradients_are_right(parameters, build, law, estimator, data):
    for y in data:
        case = case_of(parameters, build, law, y)
        value, gradient = exact(case, y)
        runs = run(case, estimator, 1000)
        assert_mean(runs.likelihoods, value)
        assert_gradient(runs, value, gradient, "all")


def case_of(parameters, build, law, y) -> Case:
    return Case(parameters, build, law, jnp.asarray(PAIRS[y]))


def test_what_has_no_mass_is_said_so():
    """A datum outside the support that the restart cannot draw either: -inf, and no NaN."""
    estimator = Reversal(FIXED, num_walks=4)

    def value(p):
        return estimator(jax.random.key(0), build_inside(p), jnp.asarray(PAIRS[3])).log_likelihood

    found, slope = jax.jit(jax.value_and_grad(value))(INSIDE)
    assert found == -jnp.inf
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(slope))


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(build_plain, id="plain", marks=pytest.mark.thorough),
        pytest.param(build_staged, id="staged"),
    ],
)
def test_reversal_refuses_with_the_remedy(build):
    objective = likelihood(Reversal(FIXED, num_walks=16), build)
    with pytest.raises(InputError, match="Use Bidirectional or Forward") as refusal:
        log_likelihood(objective, PARAMETERS, [(None, PAIRS[0])])
    assert "\n" not in str(refusal.value)


TRANSIENT = np.array([[0.5, 0.5, 0.0], [0.3, 0.7, 0.0], [0.2, 0.3, 0.5]])


@pytest.mark.thorough
def test_states_that_a_finite_chain_leaves_for_ever():
    kernel, restart = FiniteKernel.from_matrix(TRANSIENT), FiniteRestart.from_law([0.2, 0.3, 0.5])
    assert np.array_equal(np.asarray(kernel.law()) == 0, [False, False, True])
    chain = doeblin(kernel, restart, EPSILON)
    law = EPSILON * np.linalg.solve(
        (np.eye(3) - (1 - EPSILON) * TRANSIENT).T, np.array([0.2, 0.3, 0.5])
    )

    @eqx.filter_jit
    def weights(estimator: AbstractEstimator, y: jax.Array):
        keys = jax.random.split(jax.random.key(0), 1000)
        return jax.vmap(lambda key: jnp.exp(estimator(key, chain, y).log_likelihood))(keys)

    for y in range(3):
        assert_mean(np.asarray(weights(Bidirectional(FIXED), jnp.array(y)), np.float64), law[y])
    with pytest.raises(RuntimeError, match="Use Bidirectional"):
        weights(Reversal(FIXED), jnp.array(0)).block_until_ready()
