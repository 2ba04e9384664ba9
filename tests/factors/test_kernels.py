"""Kernels and restart: matrices by hand, and the contract of all kernels."""

from __future__ import annotations

from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import settings
from scipy.sparse.csgraph import connected_components

from doeblin import InputError
from doeblin.chains import doeblin
from doeblin.factors import (
    ColourGibbs,
    ColourSweep,
    Factors,
    ForestGibbs,
    ForestSweep,
    Function,
    Graph,
    Linear,
    Model,
    SiteGibbs,
    Table,
    TreeRestart,
    alike,
)
from doeblin.factors._padding import padded
from doeblin.finite import stationary
from doeblin.kernels import BlockKernel, RandomSites, mixture

from ..kernels import test_contract as contract
from ..kernels.cases import KernelCase, RestartCase
from ..statistics import assert_follows
from .random_graphs import SIZES, VALUES, Case, cases

KERNELS = (SiteGibbs(), ColourGibbs(), ColourSweep(), ColourSweep("backward"))
FORESTS = (ForestGibbs(), ForestSweep(), ForestSweep("backward"))
FEW = VALUES**3


@eqx.filter_jit
def matrices(model, graph, states):
    given = model.given(graph)

    def matrix(kernel):
        def row(old):
            return jax.vmap(lambda new: kernel.log_prob(new, old, given))(states)

        return jnp.exp(jax.vmap(row)(states))

    return [matrix(kernel) for kernel in KERNELS], [matrix(kernel) for kernel in FORESTS]


@pytest.mark.thorough
@settings(max_examples=20)
@for_all(cases(most_sites=3))
def test_transition_probabilities_are_those_of_gibbs(case: Case):
    if not np.isfinite(case.tree_total).any():
        return
    size = case.num_states
    graph = padded(case.plain, SIZES._replace(blocks=(3, 3, 3)))
    found, by_forest = matrices(case.model, graph, case.states[:FEW])
    single, coloured, ahead, back = (np.asarray(part)[:size, :size] for part in found)
    redraw = [case.redraw(site) for site in range(len(case.plain.num_values))]
    by_colour = [
        reduce(np.matmul, [redraw[site] for site in row[row >= 0]]) for row in case.plain.colours
    ]
    np.testing.assert_allclose(single, np.mean(redraw, axis=0), atol=1e-4)
    np.testing.assert_allclose(coloured, np.mean(by_colour, axis=0), atol=1e-4)
    np.testing.assert_allclose(ahead, reduce(np.matmul, by_colour), atol=1e-4)
    np.testing.assert_allclose(back, reduce(np.matmul, by_colour[::-1]), atol=1e-4)
    weight = np.exp(case.total()[:size])
    if weight.sum() > 0:
        law = weight / weight.sum()
        for matrix in (single, coloured, ahead, back):
            np.testing.assert_allclose(law @ matrix, law, atol=1e-4)
    parts = [case.redraw_together(sites) for sites in forests(case.plain)]
    gibbs, ahead, back = (np.asarray(part)[:size, :size] for part in by_forest)
    np.testing.assert_allclose(gibbs, np.mean(parts, axis=0), atol=1e-4)
    np.testing.assert_allclose(ahead, reduce(np.matmul, parts), atol=1e-4)
    np.testing.assert_allclose(back, reduce(np.matmul, parts[::-1]), atol=1e-4)


def forests(graph: Graph) -> list[list[list[int]]]:
    """The trees of each block."""
    found = []
    for rounds in graph.blocks.rounds:
        sites = rounds[rounds >= 0]
        roots = graph.blocks.root[sites]
        found.append([sites[roots == root].tolist() for root in dict.fromkeys(roots.tolist())])
    return found


@for_all(cases())
def test_forests_divide_the_sites_and_have_no_loops(case: Case):
    graph = case.plain
    blocks = [[site for tree in trees for site in tree] for trees in forests(graph)]
    assert sorted(site for sites in blocks for site in sites) == list(range(len(graph.num_values)))
    for sites, trees in zip(blocks, forests(graph), strict=True):
        pairs = set()
        for kind in graph.kinds.values():
            for scope in kind.declared().scopes.tolist():
                held = sorted(set(scope) & set(sites))
                if len(scope) == 2 and len(held) == 2:
                    pairs.add(tuple(held))
                else:
                    assert len(held) <= 1
        # As many trees as sites less pairs, so none of the pairs closes a loop.
        matrix = np.zeros((len(sites), len(sites)))
        for one, other in pairs:
            matrix[sites.index(one), sites.index(other)] = 1
        assert connected_components(matrix, directed=False)[0] == len(trees)
        assert len(trees) == len(sites) - len(pairs)


def small() -> tuple[Model, Graph, np.ndarray]:
    """Three sites in a loop, with padding for a fourth; all its states."""
    rng = np.random.default_rng(3)
    pairs = [[0, 1], [1, 2], [2, 0]]
    factors = {
        "field": Factors([[0], [1], [2]], rng.normal(size=(3, 2))),
        "pair": Factors(pairs, rng.normal(size=(3, 1))),
    }
    model = Model(
        {
            "field": Linear(rng.normal(size=(2, 3))),
            "pair": Function(lambda values, weight: weight[0] * (values[0] == values[1])),
        }
    )
    wider = {"field": Factors(np.zeros((0, 1), int), np.zeros((0, 2)))}
    wider |= {"pair": Factors(np.zeros((0, 2), int), np.zeros((0, 1)))}
    graph = alike([Graph.of([2, 3, 2], factors), Graph.of([2] * 4, wider)])[0]
    states = np.array([[*row, 0] for row in np.ndindex(2, 3, 2)], np.int32)
    return model, graph, jnp.asarray(states)


MODEL, GRAPH, STATES = small()
BLOCK = BlockKernel(
    TreeRestart(),
    SiteGibbs().density(),
    num_proposals=2,
    choose_block=RandomSites((4,)),
)


@pytest.fixture(scope="module")
def given():
    return MODEL.given(GRAPH)


@pytest.mark.parametrize(
    ("kernel", "reversible"),
    [
        # One site of those that a colour redraws.
        pytest.param(SiteGibbs(), True, id="site", marks=pytest.mark.thorough),
        pytest.param(ColourGibbs(), True, id="colour"),
        # The test of the chain below has its matrix, too.
        pytest.param(ColourSweep(), False, id="sweep", marks=pytest.mark.thorough),
        pytest.param(ForestGibbs(), True, id="forest"),
        # What the forest redraws, one after the other.
        pytest.param(ForestSweep(), False, id="forests", marks=pytest.mark.thorough),
    ],
)
def test_kernels_keep_the_contract(given, kernel, reversible: bool):
    case = KernelCase(kernel, STATES, x=given, reversible=reversible)
    contract.test_kernel_contract(case)


def test_restart_keeps_the_contract(given):
    blocks = (jnp.array([True, False, True, False]), jnp.array([True, True, True, True]))
    contract.test_restart_contract(RestartCase(TreeRestart(), STATES, x=given, blocks=blocks))
    # The law of a block is that of u given the rest.
    log_u = jax.jit(jax.vmap(lambda state: TreeRestart().log_prob(state, given)))(STATES)
    of_block = jax.jit(
        jax.vmap(lambda y, b: TreeRestart().log_prob_block(y, b, given), in_axes=(0, None))
    )
    for block in blocks:
        found = of_block(STATES, block)
        others = np.where(block, 0, STATES)
        same = (others[:, None] == others).all(-1)
        rest = jax.nn.logsumexp(jnp.where(same, log_u[None], -jnp.inf), axis=1)
        np.testing.assert_allclose(found, log_u - rest, atol=1e-5)


@pytest.mark.thorough  # `test_labeller.py` draws by it, and the kernels are above
def test_chain_is_an_ordinary_chain(given):
    """Its exact draws follow the stationary law of (1-ε)A + ε·u, by linear algebra."""
    chain = MODEL.chain(epsilon=0.3)
    assert chain.certificate().mixing_time(0.25) == 4  # (1-ε)^4 = 0.2401
    matrix = contract.transition_matrix(ColourSweep(), KernelCase(ColourSweep(), STATES, x=given))
    u = np.exp(jax.jit(jax.vmap(lambda state: TreeRestart().log_prob(state, given)))(STATES))
    law = stationary(0.7 * matrix / matrix.sum(1, keepdims=True) + 0.3 * u / u.sum())
    drawn = chain.draw(jax.random.key(5), 20_000, given).state
    assert_follows(contract.number(STATES, drawn), law)


@pytest.mark.thorough  # `test_values_that_there_are_none_of…`, and all tests here have padding
def test_padding_has_one_value(given):
    """That it changes no probability is part of all tests here; other values are impossible."""
    outside = STATES[0].at[3].set(1)

    @jax.jit
    def log_probs():
        found = [
            kernel.log_prob(outside, STATES[0], given) for kernel in (*KERNELS[:-1], *FORESTS[:-1])
        ]
        return [*found, given.log_density(outside), given.law.log_prob(outside, GRAPH)]

    assert np.isneginf(log_probs()).all()


def test_kernels_can_be_combined(given):
    """Their targets are seen to be the same."""
    both = mixture([SiteGibbs(), ColourGibbs(), ForestGibbs(), BLOCK])
    np.testing.assert_allclose(both.log_target(STATES[3], given), given.log_density(STATES[3]))


def test_an_input_that_is_no_given_is_named():
    chain = doeblin(SiteGibbs(), TreeRestart(), 0.1)
    with pytest.raises(InputError, match=r"model.given\(graph\)"):
        chain.draw(jax.random.key(0), 1)


@pytest.mark.parametrize(
    "kernel", (*KERNELS, *FORESTS[:2]), ids=lambda kernel: type(kernel).__name__
)
def test_values_that_there_are_none_of_have_no_probability(kernel):
    model = Model({"pair": Table(jnp.zeros((3, 3)))})
    old, values = jnp.array([0, 1]), np.array([-1, 3, 2**31 - 1, 2])

    @jax.jit
    def log_probs(states):
        given = model.given(Graph.of([3, 3], {"pair": [[0, 1]]}))
        steps = jax.vmap(lambda new: kernel.log_prob(new, old, given))
        return steps(states), jax.vmap(lambda new: TreeRestart().log_prob(new, given))(states)

    for found in log_probs(jnp.stack([jnp.zeros(4, int), jnp.asarray(values)], axis=1)):
        np.testing.assert_array_equal(np.isneginf(found), [True, True, True, False])
