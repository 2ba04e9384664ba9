"""Long states are scored in parts: the same numbers in less memory."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin.chains import doeblin
from doeblin.kernels import Gibbs, IndependentSites
from doeblin.learning import FixedHorizon, Forward, Reversal

VALUES, WALKS, RATE = 64, 4, 0.3


def _compiled(estimator: Any, sites: int) -> tuple[Any, int]:
    """The likelihood with its gradient, and the bytes that it takes to compute them."""

    def loss(parameters: Any, key: Any, y: Any) -> Any:
        logits, coupling = parameters

        def density(state: Any, x: Any) -> Any:
            own = jnp.take_along_axis(logits, state[:, None], axis=1).sum()
            return own + coupling * (state[2:] == state[:-2]).sum()

        chain = doeblin(Gibbs(density, VALUES), IndependentSites(logits), RATE)
        return estimator(key, chain, y).log_likelihood

    rng = np.random.default_rng(0)
    logits = jnp.asarray(rng.normal(size=(sites, VALUES)), float)
    y = jnp.asarray(rng.integers(0, VALUES, sites), jnp.int32)
    given = ((logits, jnp.asarray(0.1)), jax.random.key(0), y)
    jitted: Any = eqx.filter_jit(eqx.filter_value_and_grad(loss))
    compiled = jitted.lower(*given).compile()
    return compiled(*given), compiled.compiled.memory_analysis().temp_size_in_bytes


@pytest.mark.thorough  # of `make test`, whose states are short, it is all in one part
@pytest.mark.parametrize(("estimator", "sites"), [(Reversal, 256), (Forward, 5)])
def test_parts_give_the_same_numbers_in_less_memory(
    estimator: Any, sites: int, monkeypatch: pytest.MonkeyPatch
):
    own = estimator(FixedHorizon(RATE), num_walks=WALKS)
    slots = sum(lanes * steps for lanes, steps in own.horizon.segments(WALKS))
    each = jnp.zeros(sites).nbytes  # of a number for each site, in either precision
    monkeypatch.setattr("doeblin.learning._model._AT_ONCE", 2**40)
    found, whole = _compiled(own, sites)
    # Enough for the state and the key of three slots.
    monkeypatch.setattr("doeblin.learning._model._AT_ONCE", 3 * each + 100)
    found_in_parts, parts = _compiled(own, sites)
    assert np.isfinite(found[0])
    for a, b in zip(jax.tree.leaves(found_in_parts), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    if estimator is Reversal:
        # At each slot all values of a site are scored as whole states, which takes some five times
        # as much. In parts, only the three slots of one part do; of all, the states before and
        # after its step are left, and what the derivative of its log-density needs: some twelve.
        assert whole > slots * VALUES * each
        assert parts < (12 * slots + 3 * 8 * VALUES) * each
