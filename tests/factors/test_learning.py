"""Learning: it starts at u's likelihood, gradients are those of enumeration, labels may miss."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from doeblin import InputError
from doeblin.factors import (
    Completion,
    FactorLikelihood,
    Factors,
    Graph,
    Linear,
    Model,
    PseudoLikelihood,
    SiteGibbs,
    Table,
    labelled,
    marginals,
)
from doeblin.learning import FixedHorizon, RestartLikelihood, Reversal, fit, log_likelihood

EPSILON = 0.3


def loop(size: int, seed: int, three: bool = False) -> Graph:
    """A ring with features at its sites, and perhaps one factor over three of them."""
    rng = np.random.default_rng(seed)
    sites = np.arange(size)
    factors = {
        "site": Factors(sites[:, None], rng.normal(size=(size, 2))),
        "ring": np.stack([sites, (sites + 1) % size], axis=1),
    }
    return Graph.of(np.full(size, 2), factors | ({"three": [[0, 1, 2]]} if three else {}))


def model(seed: int = 0, three: bool = False) -> Model:
    rng = np.random.default_rng(seed)
    potentials = {
        "site": Linear(rng.normal(size=(2, 2))),
        "ring": Table(rng.normal(size=(2, 2))),
    }
    return Model(potentials | ({"three": Table(rng.normal(size=(2, 2, 2)))} if three else {}))


def states(size: int) -> np.ndarray:
    return np.array(list(np.ndindex(*[2] * size)), np.int32)


def scores(parameters: Model, graph: Graph, on_tree: bool) -> np.ndarray:
    """By hand: u's scores, or A's after `split`, of all states."""
    kinds = graph.kinds
    every = states(len(graph.num_values))
    field = kinds["site"].features @ np.asarray(parameters.potentials["site"].weights)
    total = sum(field[site, every[:, site]] for site in range(every.shape[1]))
    table = np.asarray(parameters.potentials["ring"].weights)
    for (one, other), used in zip(kinds["ring"].scopes, kinds["ring"].on_tree, strict=True):
        if used or not on_tree:
            total = total + table[every[:, one], every[:, other]]
    return total


def test_learning_starts_at_the_restarts_likelihood():
    """After `split` A's density is u's, by hand; so A leaves u invariant, and the chain's law is u.
    Before, or if not silent, it is that of all factors."""
    graph = loop(4, seed=1, three=True)
    whole = model(three=True)
    log_weight = scores(whole, graph, on_tree=True)
    log_u = log_weight - np.log(np.exp(log_weight).sum())

    @eqx.filter_jit
    def derived(parameters):
        given, every = parameters.given(graph), jnp.asarray(states(4))
        log_u = jax.vmap(lambda state: given.law.log_prob(state, graph))(every)
        return jax.vmap(given.log_density)(every), log_u

    for parameters, is_u in [(whole, 0), (whole.split(), 1), (whole.split(silent=False), 0)]:
        density, restart = derived(parameters)
        np.testing.assert_allclose(restart, log_u, atol=1e-4)
        assert (np.ptp(density - log_u) < 1e-4) == is_u


@pytest.mark.thorough  # `test_variance.py` of learning has it of another model
def test_gradient_is_that_of_the_stationary_law():
    """Of A's potentials on and beyond the forest and of u's own, against solving for π̃."""
    graph = loop(3, seed=2)
    every, label = jnp.asarray(states(3)), 5
    parameters = model(3).split()
    # Away from the start, where gradients of A vanish.
    parameters = jax.tree.map(lambda leaf: leaf + 0.3 * jnp.cos(jnp.arange(leaf.size)).reshape(
        leaf.shape), parameters)  # fmt: skip
    kernel = SiteGibbs()

    def exact(parameters):
        given, restart = parameters.given(graph), parameters.chain(EPSILON).restart
        rows = jax.vmap(lambda old: jax.vmap(lambda new: kernel.log_prob(new, old, given))(every))(
            every
        )
        u = jnp.exp(jax.vmap(lambda state: restart.log_prob(state, given))(every))
        law = jnp.linalg.solve(jnp.eye(8) - (1 - EPSILON) * jnp.exp(rows).T, EPSILON * u)
        return jnp.log(law[label])

    objective = FactorLikelihood(Reversal(FixedHorizon(EPSILON), num_walks=64), EPSILON, kernel)

    def estimated(parameters, key):
        return objective(key, parameters, (graph, every[label])).log_likelihood

    truth = eqx.filter_jit(eqx.filter_grad(exact))(parameters)
    keys = jax.random.split(jax.random.key(1), 200)
    slopes = eqx.filter_jit(eqx.filter_vmap(eqx.filter_grad(estimated), in_axes=(None, 0)))(
        parameters, keys
    )
    for right, found in zip(jax.tree.leaves(truth), jax.tree.leaves(slopes), strict=True):
        error = found.std(axis=0) / np.sqrt(len(keys))
        # Self-normalisation leaves a bias of O(1/walks), a fraction of the gradient's size.
        assert (jnp.abs(found.mean(axis=0) - right) <= 5 * error + 0.02).all()
    assert max(jnp.abs(leaf).max() for leaf in jax.tree.leaves(truth)) > 0.2


def test_fit_on_graphs_of_different_sizes():
    """The restart's likelihood of all examples, before and after, by enumeration of each alone."""
    graphs = [loop(size, seed) for seed, size in enumerate([3, 5, 4, 6, 5, 3])]
    labels = [np.full(len(graph.num_values), seed % 2) for seed, graph in enumerate(graphs)]
    data = labelled(list(zip(graphs, labels, strict=True)), num_buckets=1)
    objective = FactorLikelihood(RestartLikelihood(), EPSILON)
    found = fit(objective, model(), data, optimiser=optax.adam(0.2), epochs=8)
    for parameters, reported in [
        (model(), found.history[0]["log_likelihood"]),
        (found.parameters, log_likelihood(objective, found.parameters, data).mean),
    ]:
        each = []
        for graph, label in zip(graphs, labels, strict=True):
            log_weight = scores(parameters, graph, on_tree=True)
            is_it = (states(len(label)) == label).all(axis=1)
            each.append(log_weight[is_it][0] - np.log(np.exp(log_weight).sum()))
        assert np.mean(each) == pytest.approx(reported, abs=1e-4)
    assert reported > found.history[0]["log_likelihood"] + 1
    # Marginals of the chain after `split` are those of u.
    given = found.parameters.split().given(graphs[2])
    walked = eqx.filter_jit(marginals)(jax.random.key(0), given, EPSILON, num_walks=512)
    log_weight = scores(found.parameters, graphs[2], on_tree=True)
    law = np.exp(log_weight) / np.exp(log_weight).sum()
    truth = np.stack([1 - law @ states(4), law @ states(4)], axis=1)
    np.testing.assert_allclose(walked, truth, atol=5 * 0.5 / np.sqrt(512))


def test_missing_labels_are_latent():
    """The proposal's law is u's given what is known, and `log_marginal` sums over the rest."""
    graph, parameters = loop(4, seed=4), model(5)
    labels = np.array([1, -1, 0, -1])
    log_weight = scores(parameters, graph, on_tree=True)
    law = np.exp(log_weight) / np.exp(log_weight).sum()
    every = states(4)
    agrees = ((labels < 0) | (every == labels)).all(axis=1)
    completion = Completion()

    @eqx.filter_jit
    def derived(parameters):
        given = parameters.given(graph)
        x = (given, jnp.asarray(labels))
        return (
            jax.vmap(lambda state: completion.log_prob(state, x))(jnp.asarray(every)),
            completion.log_marginal(x),
            jax.vmap(lambda key: completion.sample(key, x))(
                jax.random.split(jax.random.key(0), 500)
            ),
        )

    log_probs, log_marginal, drawn = derived(parameters)
    np.testing.assert_allclose(
        np.exp(log_probs), np.where(agrees, law, 0) / law[agrees].sum(), atol=1e-5
    )
    assert log_marginal == pytest.approx(np.log(law[agrees].sum()), abs=1e-4)
    assert (np.asarray(drawn)[:, [0, 2]] == [1, 0]).all() and len(np.unique(drawn, axis=0)) > 1


def test_labels_that_do_not_fit_are_named():
    graph = loop(3, seed=0)
    with pytest.raises(InputError, match=r"label 2 at site 1, which has values 0 to 1"):
        labelled([(graph, [0, 1, 0]), (graph, [0, 2, 0])])
    with pytest.raises(InputError, match="example 0 have shape"):
        labelled([(graph, [0, 1])])
    with pytest.raises(InputError, match="no examples"):
        labelled([])


def test_pseudo_likelihood_is_that_of_each_site_given_the_rest():
    parameters = model(6)
    labels = np.array([1, 0, 0, 1])
    graph = loop(4, seed=7)
    weight = np.exp(scores(parameters, graph, on_tree=False))
    every, expected = states(4), 0.0
    for site in range(4):
        others = np.delete(np.arange(4), site)
        alike_there = (every[:, others] == labels[others]).all(axis=1)
        here = alike_there & (every[:, site] == labels[site])
        expected += np.log(weight[here].sum() / weight[alike_there].sum())
    both = [(graph, labels), (loop(6, seed=8), np.zeros(6, int))]
    padded = jax.tree.map(lambda leaf: leaf[0], labelled(both, num_buckets=1).buckets[0])
    objective = FactorLikelihood(PseudoLikelihood(), EPSILON)
    for example in ((graph, labels), padded):
        found = eqx.filter_jit(objective)(jax.random.key(0), parameters, example)
        assert found.log_likelihood == pytest.approx(expected, abs=1e-4)
