"""Products of numbers keep their digits on every device.

A GPU multiplies matrices with eleven bits unless each product asks for more, and no test on a
processor would notice. So what is compiled is looked at: every product must ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import ClosedJaxpr, Jaxpr

from doeblin.crf import LinearChainCRF, LinearPotentials, Observed, SparseFeatures
from doeblin.factors import Factors, Graph, Linear, Model, Sparse
from doeblin.kernels import FiniteKernel, cycle, repeat

from ..kernels.cases import KERNELS, RESTARTS

FULL = jax.lax.Precision.HIGHEST


def products(jaxpr: Jaxpr) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("dot_general", "conv_general_dilated"):
            yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, list | tuple) else [value]:
                if isinstance(inner, ClosedJaxpr):
                    yield from products(inner.jaxpr)
                elif isinstance(inner, Jaxpr):
                    yield from products(inner)


def rounded(function: Any, *arguments: Any) -> list[str]:
    """The products of real numbers that a GPU may round, and where they are asked for."""
    found = products(jax.make_jaxpr(function)(*arguments).jaxpr)
    real = (one for one in found if jnp.issubdtype(one.outvars[0].aval.dtype, jnp.floating))
    return [str(one) for one in real if set(one.params["precision"] or [None]) != {FULL}]


def matrix(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(8), size=8)


def graph(features: Any) -> Any:
    return Graph.of([3] * 4, {"site": Factors(np.arange(4)[:, None], features)})


def observed(features: Any) -> Observed:
    return Observed(features, jnp.array(4))


MANY = jnp.ones((4, 8))
FEW = np.zeros((4, 2), np.int64), np.ones((4, 2))
CRF = LinearChainCRF(LinearPotentials.zeros(8, 3))
KERNEL = FiniteKernel.from_matrix(matrix(0))
PLACES = {
    "cycle": (lambda: cycle([KERNEL, FiniteKernel.from_matrix(matrix(1))]).logits,),
    "repeat": (lambda: repeat(KERNEL, 1000).logits,),
    "law": (lambda logits: FiniteKernel(logits).law(), KERNEL.logits),
    "law, many": (jax.vmap(lambda logits: FiniteKernel(logits).law()), KERNEL.logits[None]),
    "its gradient": (jax.jacobian(lambda logits: FiniteKernel(logits).law()), KERNEL.logits),
    "CRF": (lambda x: CRF.log_partition(observed(x)), MANY),
    "CRF, sparse": (
        lambda x: CRF.log_partition(observed(SparseFeatures(jnp.asarray(FEW[0]), x))),
        jnp.asarray(FEW[1]),
    ),
    "factors": (
        lambda w: Model({"site": Linear(w)}).given(graph(np.ones((4, 8)))).law.log_partition,
        jnp.zeros((8, 3)),
    ),
    "factors, sparse": (
        lambda w: Model({"site": Linear(w)}).given(graph(Sparse(*FEW))).law.log_partition,
        jnp.zeros((8, 3)),
    ),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_products_ask_for_all_digits(place: Any):
    function, *arguments = place
    assert rounded(function, *arguments) == []


def test_a_product_that_does_not_ask_is_found():
    assert rounded(jax.jit(lambda a: a @ a), jnp.ones((2, 2)))


@pytest.mark.parametrize("case", [*KERNELS.values(), *RESTARTS.values()], ids=[*KERNELS, *RESTARTS])
def test_steps_of_kernels_and_restarts_ask_for_all_digits(case: Any):
    key, state = jax.random.key(0), jax.tree.map(lambda leaf: leaf[0], case.states)
    if hasattr(case, "restart"):
        assert rounded(lambda: case.restart.sample(key, case.x)) == []
        assert rounded(lambda: case.restart.log_prob(state, case.x)) == []
        return
    own = rounded(lambda: case.kernel.sample(key, state, case.x))
    # The relaxed density of that case is a user's, who chooses for himself.
    assert own == [] or "relaxed" in str(case.kernel)
