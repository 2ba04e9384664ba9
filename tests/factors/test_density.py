"""Densities and conditionals, held against sums over factors by hand."""

from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
from hypothesis import given as for_all

from doeblin.factors import Factors, Function, Graph, Linear, Model, Table, alike

from .random_graphs import VALUES, Case, cases, softmax


@eqx.filter_jit
def derived(model, graph, states):
    given = model.given(graph)
    return (
        jax.vmap(given.log_density)(states),
        jax.vmap(given.conditionals)(states),
        jax.vmap(lambda state: given.conditionals(state, np.array([1, 0])))(states),
    )


@for_all(cases())
def test_density_and_conditionals_are_sums_of_scores(case: Case):
    if not np.isfinite(case.tree_total).any():
        return  # Refused: see test_errors.
    density, conditionals, some = (
        np.asarray(part) for part in derived(case.model, case.graph, case.states)
    )
    expected = case.total()
    np.testing.assert_allclose(density, expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(conditionals[:, [1, 0]], some)
    for site, count in enumerate(case.plain.num_values):
        logits = case.conditional(site)
        np.testing.assert_allclose(conditionals[:, site, :count], logits, rtol=1e-5, atol=1e-4)
        # It is the density's own conditional, wherever the density has one.
        whole = np.stack([expected[case.neighbour(site, value)] for value in range(count)], axis=1)
        some = np.isfinite(whole).any(axis=1)
        np.testing.assert_allclose(
            softmax(conditionals[some, site, :count]), softmax(whole[some]), atol=1e-4
        )
    # Values that a site does not have are impossible, and sites beyond the graph have one value.
    counts = np.ones(conditionals.shape[1], int)
    counts[: len(case.plain.num_values)] = case.plain.num_values
    beyond = np.arange(VALUES) >= counts[:, None]
    assert np.isneginf(conditionals[:, beyond]).all()
    assert not np.isneginf(conditionals.max(axis=-1)).any()


def test_kinds_without_factors_and_sites_without_neighbours():
    graph = Graph.of([2, 1, 3], {"pair": np.zeros((0, 2), int), "seen": Factors([[2]], [[1.0]])})
    graph = alike([graph, graph])[0].retreed(["seen"])
    given = Model({"pair": Table.zeros(3, 3), "seen": Linear([[0.0, 1.0, 2.0]])}).given(graph)
    state = np.array([1, 0, 2])
    assert given.log_density(state) == 2 and graph.colours.tolist() == [[0, 1, 2]]
    conditionals = given.conditionals(state)
    np.testing.assert_array_equal(conditionals[2], [0, 1, 2])
    np.testing.assert_array_equal(np.isfinite(conditionals[:2]), [[1, 1, 0], [1, 0, 0]])
    weights = np.exp([0, 1, 2])
    np.testing.assert_allclose(
        np.exp(given.law.log_prob(state, graph)), weights[2] / weights.sum() / 2, rtol=1e-5
    )


def test_functions_of_two_places_may_have_one_without_a_site():
    graph = Graph.of([2, 3], {"both": [[0, -1], [0, 1], [-1, 1]]})
    given = Model({"both": Function(lambda values, _: values[0] + 10.0 * values[1])}).given(graph)
    for one, other in np.ndindex(2, 3):
        score = (one - 10) + (one + 10 * other) + (-1 + 10 * other)
        assert given.log_density(np.array([one, other])) == score
    logits = np.asarray(given.conditionals(np.array([1, 2])))
    np.testing.assert_allclose(logits[0, :2] - logits[0, 0], [0, 2])
    np.testing.assert_allclose(logits[1] - logits[1, 0], [0, 20, 40])
