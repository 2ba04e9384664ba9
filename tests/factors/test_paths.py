"""Automata along paths, and the kernel that proposes words: by counting in plain Python."""

from __future__ import annotations

import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from doeblin import InputError
from doeblin.factors import (
    AbstractFunction,
    Factors,
    Graph,
    GraphLabeller,
    Model,
    NGrams,
    SiteGibbs,
    Table,
    Tables,
    WordMetropolis,
    Words,
    along,
)
from doeblin.kernels import mixture

from ..statistics import assert_follows

VALUES, PLACES, ORDER = 3, 6, 4


def counted(weights: dict[tuple[int, ...], float], path: tuple[int, ...]) -> float:
    """The weights of all occurrences, found by comparing slices."""
    symbols = (-1, *path, -1)
    return sum(
        weight
        for pattern, weight in weights.items()
        for at in range(len(symbols) - len(pattern) + 1)
        if symbols[at : at + len(pattern)] == pattern
    )


@st.composite
def patterns(draw) -> dict[tuple[int, ...], float]:
    inner = st.lists(st.integers(0, VALUES - 1), min_size=1, max_size=ORDER - 1)
    found = draw(st.lists(st.tuples(inner, st.sampled_from(["", "<", ">", "<>"])), min_size=1))
    weights = {}
    for number, (values, ends) in enumerate(found):
        pattern = ((-1,) if "<" in ends else ()) + tuple(values)
        pattern = (pattern + ((-1,) if ">" in ends else ()))[:ORDER]
        if len(pattern) > 1:
            weights[pattern] = 0.5 + number
    return weights or {(0, 1): 1.0}


@settings(max_examples=3)
@for_all(patterns())
def test_ngrams_are_counted_and_scored_locally(weights):
    """On many paths at once: compiled once for a list of patterns."""
    rng = np.random.default_rng(len(weights))
    paths = [tuple(rng.integers(0, VALUES, 1 + n % PLACES).tolist()) for n in range(60)]
    potential = NGrams(weights, VALUES)

    @jax.jit
    @jax.vmap
    def scored(values: jax.Array) -> tuple[jax.Array, jax.Array]:
        at = jax.vmap(lambda place: potential.prepared().scores(values, place, VALUES, None))
        return potential(values, None), at(jnp.arange(PLACES))

    filled = [path + (-1,) * (PLACES - len(path)) for path in paths]
    totals, scores = (np.asarray(part) for part in scored(jnp.asarray(filled)))
    for path, total, local in zip(paths, totals, scores, strict=True):
        assert total == pytest.approx(counted(weights, path))
        for place in range(len(path)):
            whole = [
                counted(weights, (*path[:place], value, *path[place + 1 :]))
                for value in range(VALUES)
            ]
            changes = np.array(whole) - whole[0]
            np.testing.assert_allclose(local[place] - local[place, 0], changes, atol=1e-4)


LISTED = {(0, 1, 1): 0.3, (1, 1, 0): -0.4, (1,): 0.1, (0, 0): 5.0, (0, 1, 1, 0): 2.0}
WEIGHTS = (1.5, 2.0)
PATHS = [[0, 1, 2], [3, -1, -1]]
FIELDS = np.random.default_rng(0).normal(size=(4, 2))
PAIRS = [[0, 1], [1, 2], [2, 3], [3, 0]]
PAIR = np.array([[0.7, -0.2], [0.1, 0.4]])
STATES = np.array(list(itertools.product(range(2), repeat=4)), np.int32)


def small() -> tuple[Model, Graph]:
    """Two paths in a loop of four sites, of which the forest has three edges."""
    scopes = {"site": np.arange(4)[:, None], "pair": PAIRS, "words": PATHS}
    model = Model(
        {"site": Tables(FIELDS), "pair": Table(PAIR), "words": Words(LISTED, 2, weights=WEIGHTS)}
    )
    return model, Graph.of([2] * 4, scopes)


def log_weight(state: np.ndarray) -> float:
    total = sum(FIELDS[site, value] for site, value in enumerate(state))
    total += sum(PAIR[state[one], state[other]] for one, other in PAIRS)
    for path in PATHS:
        word = tuple(int(state[site]) for site in path if site >= 0)
        total += WEIGHTS[0] + WEIGHTS[1] * LISTED[word] if word in LISTED else 0
    return total


def test_whole_words_are_proposed_and_accepted_by_their_density():
    model, graph = small()
    given = model.given(graph)
    weights = np.array([log_weight(state) for state in STATES])
    kernel = WordMetropolis("words")

    @eqx.filter_jit
    def everything(given, states):
        def row(old):
            return jax.vmap(lambda new: kernel.log_move(new, old, given))(states)

        keys = jax.random.split(jax.random.key(0), 4000)
        drawn = jax.vmap(lambda key: kernel.sample_scored(key, states[4], given))(keys)
        return (
            jax.vmap(given.log_density)(states),
            jax.vmap(given.conditionals)(states),
            jnp.exp(jax.vmap(row)(states)),
            drawn,
        )

    density, conditionals, matrix, (drawn, scores) = jax.tree.map(
        np.asarray, everything(given, jnp.asarray(STATES))
    )
    np.testing.assert_allclose(density, weights, atol=1e-4)
    for site in range(4):
        flipped = weights[np.arange(16) ^ (8 >> site)]
        ones = np.where(STATES[:, site] == 1, weights - flipped, flipped - weights)
        logits = conditionals[:, site]
        np.testing.assert_allclose(logits[:, 1] - logits[:, 0], ones, atol=1e-4)
    law = np.exp(weights - weights.max())
    law /= law.sum()
    matrix = matrix * (1 - np.eye(16))
    assert (matrix.sum(axis=1) <= 1 + 1e-5).all()
    flow = law[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, atol=1e-6)  # reversible, to the density's law
    # Three sites at once; and nothing that is on both paths.
    assert matrix[0b0000, 0b0110] > 0 and matrix[0b0110, 0b0000] > 0
    assert matrix[0b0000, 0b0111] == 0
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    assert_follows(drawn @ [8, 4, 2, 1], matrix[4])
    assert np.isfinite(scores).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scopes", "width"),
    [
        ([[0, 1, 2]], 2),
        pytest.param([[2, 0, 1]], 1, marks=pytest.mark.thorough),  # as in the test above
        pytest.param([[0, 1], [1, 2]], 1, marks=pytest.mark.thorough),
    ],
)
def test_words_are_proposed_where_their_factors_are_tables(scopes, width):
    """Also where they are in u, and where paths have two places."""
    words, pair = {(0, 1, 1): 0.7, (1, 0): -0.2, (1, 1): 0.4}, np.array([[0.3, -1.0], [0.2, 0.9]])
    triangle = [[0, 1], [1, 2], [2, 0]]
    model = Model({"words": Words(words, 2, weights=(1.0, 2.0)), "pair": Table(pair)})
    given = model.given(Graph.of([2] * 3, {"words": scopes, "pair": triangle}, width=width))
    states = np.array(list(itertools.product(range(2), repeat=3)))

    def log_weight(state):
        found = [tuple(map(int, state[scope])) for scope in scopes]
        own = sum(1 + 2 * words[word] for word in found if word in words)
        return own + sum(pair[state[one], state[other]] for one, other in triangle)

    @eqx.filter_jit
    def moves(given, states):
        move = WordMetropolis("words").log_move
        return jax.vmap(lambda old: jax.vmap(lambda new: move(new, old, given))(states))(states)

    matrix = np.exp(moves(given, jnp.asarray(states))) * (1 - np.eye(8))
    flow = np.exp([log_weight(state) for state in states])[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, rtol=1e-4, atol=1e-6)
    assert matrix[0b000, 0b011] > 0 and (matrix.sum(axis=1) <= 1 + 1e-5).all()


@pytest.mark.thorough  # that words are proposed is above
def test_words_are_found_where_single_sites_get_stuck():
    """Between two words lies what hardly anything has: site by site there is no way, by words there
    is; and a labeller takes the mixture as it takes any kernel."""
    model = Model({"words": Words([(0, 0, 0), (1, 1, 1)], 2, weights=(12.0, 0.0))})
    graph = Graph.of([2] * 3, {"words": [[0, 1, 2]]})
    given, start = model.given(graph), jnp.zeros(3, jnp.int32)
    both = mixture([SiteGibbs(), WordMetropolis("words")])

    @eqx.filter_jit
    def reached(kernel, given):
        keys = jax.random.split(jax.random.key(1), (200, 20))
        return jax.vmap(lambda keys: kernel.sample_many(keys, start, given))(keys)

    assert (reached(SiteGibbs(), given) == 0).mean() > 0.99
    by_words = np.asarray(reached(both, given)).sum(axis=1)
    assert 0.3 < (by_words == 3).mean() < 0.7
    labeller = GraphLabeller(model, kernel=both, epsilon=0.1, restart_epochs=1, epochs=1)
    plan = labeller.plan([graph], [[1, 1, 1]])
    assert plan.kernel is both


def test_ngrams_that_training_has_seen():
    potential = NGrams.seen([[0, 1, 0], [0, 1, 0], [1]], orders=(2, 3), num_values=2)
    assert len(potential.weights) == 10  # <0 01 10 0> <1 1> and <01 010 10>, <1>
    assert isinstance(potential.silenced(), AbstractFunction)
    # What is missing is no boundary.
    assert len(NGrams.seen([[0, -1, 1], [1, 1, -1]], (2,), 2).weights) == 4  # <0 1> <1 11
    graph = Graph.of([2] * 5, {"gram": Factors([[0, 1, 2], [3, 4, -1]]), "next": along([3, 4], 0)})
    given = Model({"gram": potential, "next": Table.zeros(2, 2)}).given(graph)
    assert given.log_density(np.array([0, 1, 0, 0, 1])) == 0


def test_a_path_of_two_places_is_a_table():
    weights = {(0, 1): 2.0, (-1, 1): 0.5, (1, -1): 0.25}
    graph = Graph.of([2, 2, 2], {"gram": [[0, 1], [2, -1]]})
    given = Model({"gram": NGrams(weights, 2)}).given(graph)
    for state in itertools.product(range(2), repeat=3):
        expected = counted(weights, state[:2]) + counted(weights, state[2:])
        assert given.log_density(np.array(state)) == expected
    with pytest.raises(
        InputError, match=r"WordMetropolis\('gram'\) needs .* such kinds here: none"
    ):
        WordMetropolis("gram").sample(jax.random.key(0), jnp.zeros(3, jnp.int32), given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NGrams({}, 2), r"n-grams are \{\}; give their weights"),
        (lambda: NGrams([(0, 1)], 2), r"n-grams are \[\(0, 1\)\]"),
        (lambda: NGrams({(0, 1): "x"}, 2), r"weights \['x'\]; all must be numbers"),
        (lambda: NGrams.seen([(0, 1)], 2, 2), "orders = 2 must be several"),
        (lambda: NGrams.seen([(0, 1)], (9,), 2), r"no n-grams of orders \[9\]"),
        (lambda: NGrams.seen([(0, 7)], (2,), 2), r"sequence \(0, 7\) has 7; .* is missing"),
        (lambda: Words({(0, 1): "x"}, 2), r"the list says \['x'\]; all must be numbers"),
        (lambda: NGrams({(0,): 1.0}, 2), r"\(0,\) needs two values"),
        (lambda: NGrams({(0, 2): 1.0}, 2), r"n-gram \(0, 2\) has 2; values are .* 0 to 1"),
        (lambda: NGrams({(0, -1, 1): 1.0}, 2), "first or last for the boundary"),
        (lambda: Words([], 2), "no words"),
        (lambda: Words([()], 2), "empty"),
        (lambda: Words([(0, 5)], 2), r"word \(0, 5\) has 5"),
        (lambda: Words({(0, 1): math.nan}, 2), "nan of word"),
        (lambda: Words([(0, 1)], 2, weights=(1.0,)), "must be two"),
        (lambda: WordMetropolis("words", share=1.0), "share = 1.0"),
    ],
)
def test_bad_lists_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_bad_paths_are_named():
    gap = Graph.of([2] * 3, {"gram": [[0, -1, 2]]})
    more = Graph.of([2, 2, 3], {"gram": [[0, 1, 2]]})
    model = Model({"gram": NGrams({(0, 1): 1.0}, 2)})
    with pytest.raises(InputError, match="factor 0 of 'gram' has no site at place 1"):
        model.given(gap)
    with pytest.raises(InputError, match=r"over site 2 with 3 values.*num_values = 2"):
        model.given(more)
    with pytest.raises(InputError, match=r"'gram' has nan at \.weights\[0\]"):
        Model({"gram": NGrams({(0, 1): math.nan}, 2)}).given(
            Graph.of([2] * 3, {"gram": [[0, 1, 2]]})
        )
