"""JAX's strict modes are for those who want them: nothing of doeblin stands in their way.

Nearly all tests run with `jax_numpy_rank_promotion=raise` (`tests/conftest.py`); here are types.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import doeblin
from doeblin import Schedule
from doeblin.factors import Factors, Graph, Linear, Model, SiteGibbs, Table, TreeRestart
from doeblin.kernels import IndependentSites, Potts
from doeblin.learning import FixedHorizon, RestartLikelihood, Reversal, fit, likelihood

from .learning.models import PLAIN

KEY = jax.random.key(0)


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with jax.numpy_dtype_promotion("strict"):
        yield


def test_chains():
    grid = Potts((4, 4), num_values=2, coupling=0.5)
    schedule = Schedule([[0.5, 0.4, 0.1], [0.3, 0.5, 0.2], [0.5, 0.1, 0.4]])
    start = IndependentSites(jnp.zeros((4, 4, 2)))
    chain = doeblin.staged(schedule, [grid.checkerboard(), grid.gibbs()], start)
    # A traced chain is a typed one: nothing needs to be compiled.
    assert jax.eval_shape(lambda key: chain.draw(key, 5), KEY).state.shape == (5, 4, 4)
    assert jax.eval_shape(lambda key: chain.run(key, 5), KEY).stage.shape == (5,)

    def function(state):
        return {"odd": state.sum() % 2, "ones": state == 1, "half": state.astype(jnp.float16)}

    found = chain.estimate(KEY, function, num_tours=50)
    assert 0 < found.mean["odd"] < 1 and (found.mean["ones"] == found.mean["half"]).all()


def test_learning():
    objective = likelihood(Reversal(FixedHorizon(0.3), num_walks=8), PLAIN.build)
    start = jax.tree.map(jnp.zeros_like, PLAIN.parameters)
    value = lambda p: objective(KEY, p, (None, np.int32(1))).log_likelihood  # noqa: E731
    assert jax.eval_shape(jax.grad(value), start)["A"].shape == start["A"].shape
    objective = likelihood(RestartLikelihood(), PLAIN.build)
    found = fit(objective, start, [(None, np.int32(1))] * 8, batch_size=8, epochs=2)
    assert found.parameters["u"][1] == found.parameters["u"].max() > 0


def test_factor_graphs():
    pairs = Factors([[0, 1], [1, 2], [2, 0]])
    graph = Graph.of([2, 3, 2], {"field": Factors([[0]], np.ones((1, 2))), "pair": pairs})
    given = Model({"field": Linear(np.ones((2, 3))), "pair": Table(np.eye(3))}).given(graph)
    chain = doeblin.doeblin(SiteGibbs(), TreeRestart(), 0.3)
    draws = jax.eval_shape(lambda key: chain.draw(key, 5, given), KEY)
    assert draws.state.shape == (5, 3)
    assert jax.eval_shape(jax.vmap(given.log_density), draws.state).shape == (5,)
