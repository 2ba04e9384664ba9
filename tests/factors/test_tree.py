"""The forest and its law: exact draws, probabilities, marginals and best states by enumeration."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.special
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from doeblin import InputError
from doeblin.factors import Factors, Graph, Model, Table, Tables, TreeRestart, along
from doeblin.factors._padding import padded
from doeblin.factors._structure import ABOVE, NOTHING

from ..statistics import assert_follows
from .random_graphs import SITES, SIZES, Case, cases

DRAWS = 4000


@eqx.filter_jit
def derived(model, graph, states):
    given = model.given(graph)
    law, base = given.law, given.base
    keys = jax.random.split(jax.random.key(0), DRAWS)
    return (
        law.log_partition,
        jax.vmap(lambda state: law.log_prob(state, graph))(states),
        law.marginals(graph),
        base.best(graph),
        jax.vmap(lambda key: law.sample(key, graph))(keys),
        jax.grad(lambda base: base.law(graph).log_partition)(base),
    )


def assert_law(case: Case, plain: Graph, graph: Graph):
    log_weight = case.total_in(plain)[: case.num_states]
    if not np.isfinite(log_weight).any():
        with pytest.raises(Exception, match="rule out every state"):
            derived(case.model, graph, case.states)
        return
    found = jax.tree.map(np.asarray, derived(case.model, graph, case.states))
    log_z, log_prob, marginals, (best, score), drawn, slope = found
    top = log_weight.max()
    weight = np.exp(log_weight - top)
    law = weight / weight.sum()
    assert log_z == pytest.approx(top + np.log(weight.sum()), abs=1e-3)
    np.testing.assert_allclose(np.exp(log_prob[: case.num_states]), law, atol=1e-5)
    states, size = case.states[: case.num_states], len(case.plain.num_values)
    for site in range(size):
        expected = np.bincount(states[:, site], weights=law, minlength=marginals.shape[1])
        np.testing.assert_allclose(marginals[site], expected, atol=1e-5)
    assert score == pytest.approx(top, abs=1e-3)
    best_number = np.ravel_multi_index(tuple(best[:size]), tuple(case.plain.num_values))
    assert log_weight[best_number] == pytest.approx(top, abs=1e-3)
    numbers = np.ravel_multi_index(tuple(drawn[:, :size].T), tuple(case.plain.num_values))
    assert_follows(numbers, law)
    # The slope of log Z are probabilities, also where something is impossible.
    np.testing.assert_allclose(slope.sites[:size], marginals[:size], atol=1e-4)
    assert (drawn[:, size:] == 0).all()


@for_all(cases())
def test_law_on_the_forest_is_that_of_its_factors(case: Case):
    assert_law(case, case.plain, case.graph)


@for_all(cases())
def test_law_of_treewidth_two_is_that_of_its_factors(case: Case):
    """Loops, triangles and factors of three sites among them."""
    plain = case.plain.retreed(None, width=2)
    assert plain.width <= 2
    for name, kind in plain.kinds.items():
        # All that is on the forest, and perhaps more.
        assert (kind.on_tree | ~case.plain.kinds[name].on_tree).all()
    assert_law(case, plain, padded(plain, SIZES._replace(width=2)))


@eqx.filter_jit
def blocks_and_densities(model, graph, states, block):
    given, u = model.given(graph), TreeRestart()
    return (
        jax.vmap(given.log_density)(states),
        jax.vmap(lambda state: u.log_prob_block(state, block, given))(states),
        jax.vmap(lambda state: u.log_prob_known(state, ~block, given))(states),
    )


@pytest.mark.thorough  # the law of which they are parts is above
@settings(max_examples=10)
@for_all(cases(most_sites=4), st.integers(0, 2**SITES - 1))
def test_parts_of_treewidth_two_given_the_rest(case: Case, bits: int):
    plain = case.plain.retreed(None, width=2)
    log_weight = case.total_in(plain)[: case.num_states]
    if not np.isfinite(log_weight).any():
        return
    block = (bits >> np.arange(SITES)) % 2 == 1
    graph = padded(plain, SIZES._replace(width=2))
    found = blocks_and_densities(case.model, graph, case.states[: 3**4], block)
    density, of_block, known = (np.asarray(each)[: case.num_states] for each in found)
    np.testing.assert_allclose(density, case.total()[: case.num_states], rtol=1e-5, atol=1e-4)
    weight = np.exp(log_weight - log_weight.max())
    held = np.where(block, 0, case.states[: case.num_states])
    rest = (held[:, None] == held).all(-1) @ weight
    np.testing.assert_allclose(np.exp(known), rest / weight.sum(), atol=1e-5)
    some = rest > 0
    expected = weight[some] / rest[some]
    np.testing.assert_allclose(np.exp(of_block)[some], expected, atol=1e-5, rtol=1e-4)


def test_larger_widths_take_more_of_a_grid():
    """Strips of a grid are of the treewidth of their rows; a ladder of 2 is all in u at 2."""

    def beyond(rows: int, columns: int, width: int) -> int:
        sites = np.arange(rows * columns).reshape(rows, columns)
        kinds = {"across": along(sites, axis=1), "down": along(sites, axis=0)}
        graph = Graph.of(np.full(sites.size, 2), kinds, width=width)
        assert graph.width <= width
        return sum(int((~kind.on_tree).sum()) for kind in graph.kinds.values())

    assert beyond(2, 10, width=2) == 0
    left = [beyond(6, 6, width) for width in (1, 2, 3, 4)]
    assert left[0] == 25 and left == sorted(left, reverse=True) and left[3] < left[1] < left[0]
    triples = np.stack([np.arange(8), np.arange(1, 9), np.arange(2, 10)], axis=1)
    words = Graph.of(np.full(10, 3), {"triple": triples}, width=2)
    assert words.kinds["triple"].on_tree.all()


def test_a_width_that_makes_no_sense_is_named():
    with pytest.raises(InputError, match="width = 0"):
        Graph.of([2, 2], {"pair": [[0, 1]]}, width=0)
    triangle = {"all": [[0, 1, 2]]}
    with pytest.raises(InputError, match=r"hold more than 2 sites.*width = 1"):
        Graph.of([2, 2, 2], triangle, tree=["all"])
    with pytest.raises(InputError, match=r"width = 2 needs tables of 1000\^3 .* smaller width"):
        Graph.of([1000] * 3, triangle, width=2)


@for_all(cases(impossible=False), st.integers(0, 2**32 - 1))
def test_forest_is_the_heaviest_and_its_rounds_lead_down(case: Case, seed: int):
    rng = np.random.default_rng(seed)
    kinds = {name: kind.declared().scopes for name, kind in case.plain.kinds.items()}
    pairs = {name: scopes for name, scopes in kinds.items() if scopes.shape[1] == 2}
    # Whole numbers, so that sums are exact and ties common.
    weights = {name: rng.integers(1, 4, len(scopes)) for name, scopes in pairs.items()}
    graph = case.plain.retreed(weights)
    size = len(graph.num_values)
    matrix = np.zeros((size, size))
    for name, scopes in pairs.items():
        for (one, other), weight in zip(scopes, weights[name], strict=True):
            matrix[min(one, other), max(one, other)] += weight
    # Scipy minimises, and takes zeros for no edge.
    heaviest = -minimum_spanning_tree(coo_array(-matrix)).sum()
    edges = {tuple(sorted((site, int(graph.parent[site])))) for site in range(size)
             if graph.parent[site] != ABOVE}  # fmt: skip
    assert sum(matrix[edge] for edge in edges) == heaviest
    on_tree = {
        tuple(sorted(scope.tolist()))
        for name in pairs
        for scope in graph.kinds[name].scopes[graph.kinds[name].on_tree]
    }
    assert on_tree == edges
    assert (graph.parent == ABOVE).sum() == connected_components(matrix, directed=False)[0]
    seen: set[int] = set()
    for row in graph.rounds:
        sites = row[row != NOTHING].tolist()
        assert all(graph.parent[site] == ABOVE or graph.parent[site] in seen for site in sites)
        seen.update(sites)
    assert sorted(seen) == list(range(size))


def test_rounds_are_short_where_the_forest_is():
    """A grid's comb is as deep as half its sides; a path of n sites hangs from its middle; and
    rounds are never much larger than the forest."""
    sites = np.arange(400).reshape(20, 20)
    across = np.stack([sites[:, :-1].ravel(), sites[:, 1:].ravel()], axis=1)
    down = np.stack([sites[:-1].ravel(), sites[1:].ravel()], axis=1)
    grid = Graph.of(np.full(400, 2), {"across": across, "down": down})
    assert grid.rounds.shape[0] <= 2 * 21 and grid.rounds.size <= 4 * 400
    assert len(grid.colours) == 2
    path = Graph.of(np.full(101, 2), {"step": np.stack([np.arange(100), np.arange(1, 101)], 1)})
    assert path.rounds.shape[0] == 51
    # A long path with a large star at its end.
    star = np.stack([np.full(200, 100), np.arange(101, 301)], axis=1)
    broom = np.concatenate([path.kinds["step"].scopes, star])
    graph = Graph.of(np.full(301, 2), {"step": broom})
    assert graph.rounds.size <= 4 * 301 and (graph.rounds == NOTHING).sum() > 30

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def log_partition(model):
        return model.given(graph).law.log_partition

    # What fills rounds up says nothing, however many rounds there are.
    value, slope = log_partition(Model({"step": Table([[0.7, -0.2], [0.1, 0.3]])}))
    assert np.isfinite(value) and np.isfinite(slope.potentials["step"].weights).all()
    assert slope.potentials["step"].weights.sum() == pytest.approx(300, rel=1e-4)


@for_all(cases())
def test_no_factor_holds_a_colour_twice(case: Case):
    graph = case.plain
    rows = [row[row >= 0] for row in graph.colours]
    assert sorted(np.concatenate(rows).tolist()) == list(range(len(graph.num_values)))
    touched = [kind.declared().scopes for kind in graph.kinds.values()]
    for row in rows:
        for scopes in touched:
            assert (np.isin(scopes, row).sum(axis=1) <= 1).all()
    if all((scopes >= 0).sum(axis=1).max(initial=0) < 2 for scopes in touched):
        assert len(rows) == 1


def test_gradients_are_finite_where_states_are_impossible():
    graph = Graph.of([2, 2, 2], {"pair": [[0, 1], [1, 2], [2, 0]]})
    model = Model({"pair": Table([[0.5, -jnp.inf], [0.0, 0.3]])})

    @eqx.filter_jit
    @eqx.filter_grad
    def slope(model):
        given = model.given(graph)
        state = jnp.array([0, 0, 0])
        logits = jax.nn.log_softmax(given.conditionals(state))
        return given.law.log_prob(state, graph) + given.log_density(state) + logits[:, 0].sum()

    assert jnp.isfinite(optax.tree_utils.tree_norm(slope(model)))


def _forward_backward(fields: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, float]:
    """Marginals and log-partition of a chain in double precision."""
    before, after = [fields[0]], [np.zeros(fields.shape[1])]
    for field in fields[1:]:
        before.append(np.logaddexp.reduce(before[-1][:, None] + pair, axis=0) + field)
    for field in fields[:0:-1]:
        after.append(np.logaddexp.reduce(pair + (field + after[-1]), axis=1))
    joint = np.array(before) + np.array(after[::-1])
    return scipy.special.softmax(joint, axis=1), float(np.logaddexp.reduce(before[-1]))


def _best(fields: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """The best state of a chain in double precision (Viterbi)."""
    scores, back = fields[0], []
    for field in fields[1:]:
        joint = scores[:, None] + pair
        back.append(joint.argmax(axis=0))
        scores = joint.max(axis=0) + field
    state = [int(scores.argmax())]
    for choices in reversed(back):
        state.append(int(choices[state[-1]]))
    return np.array(state[::-1])


CHAINS = [
    (10_000, 1.0, 1.0),
    pytest.param(1000, 3.0, 1.0, marks=pytest.mark.thorough),
    pytest.param(100, 1e3, 1.0, marks=pytest.mark.thorough),
    (2, 1e6, 1.0),
    (2, 1e30, 1.0),
]


@eqx.filter_jit
def _in_single_precision(model: Model, graph: Graph, known: np.ndarray):
    given = model.given(graph)
    best, score = given.base.best(graph)
    log_known = TreeRestart().log_prob_known(best, known, given)
    return given.law.marginals(graph), given.law.log_partition, best, score, log_known


@pytest.mark.parametrize(("sites", "weight", "field"), [*CHAINS, (3, 1.0, 1e4)])
def test_single_precision_is_enough_on_long_chains_and_for_large_scores(
    sites: int, weight: float, field: float
):
    # Flipped, so that where large scores hide it the first value is not the best one.
    fields = np.float32(np.random.default_rng(0).normal(size=(sites, 2))[:, ::-1] * field)
    scopes = {"site": Factors(np.arange(sites)[:, None]), "pair": along(np.arange(sites), axis=0)}
    graph = Graph.of(np.full(sites, 2), scopes)
    model = Model({"site": Tables(fields), "pair": Table(np.eye(2) * weight)})
    known = np.arange(sites) % 3 == 0
    answers = _in_single_precision(model, graph, known)
    found, log_z, best, score, log_known = (np.asarray(each, float) for each in answers)
    # From some weight on neighbours agree, and more of it changes nothing but the sum.
    enough = min(weight, 1e6)
    expected, bare = _forward_backward(fields.astype(float), np.eye(2) * enough)
    log_partition = bare + (sites - 1) * (weight - enough)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    assert log_z == pytest.approx(log_partition, rel=2e-7)
    # The best state, by dynamic programming in double precision.
    wanted = _best(fields.astype(float), np.eye(2) * enough)
    assert (best == wanted).all()
    total = fields[np.arange(sites), wanted].sum(dtype=float)
    total += weight * (wanted[1:] == wanted[:-1]).sum()
    assert score == pytest.approx(total, rel=2e-7)
    # The probability of every third site of the best state is a difference of huge numbers.
    masked = np.where(known[:, None] & (np.arange(2) != wanted[:, None]), -np.inf, fields)
    ratio = _forward_backward(masked, np.eye(2) * enough)[1] - bare
    assert log_known == pytest.approx(ratio, rel=1e-6, abs=1e-6)
