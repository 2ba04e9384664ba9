"""Readers, and input that cannot be used: the message names the factor, the value, the remedy."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.factors import (
    Count,
    Factors,
    Function,
    Graph,
    Linear,
    Model,
    Network,
    Sparse,
    Table,
    Tables,
    Variables,
    along,
    from_arrays,
    read_uai,
)

# Three variables of 2, 2 and 3 values; the entries of a table run through its last variable first.
UAI = """MARKOV
3
2 2 3
4
1 0
2 0 1
2 1 2
2 0 2
2
 0.436 0.564
4
 0.128 0.872
 0.920 0.080
6
 0.210 0.333 0.457
 0.811 0.000 0.189
6
 1 1 1
 1 1.5 1
"""


def test_uai_file(tmp_path):
    """The probability of each state, by hand from the file's own numbers."""
    path = tmp_path / "small.uai"
    path.write_text(UAI)
    model, graph = read_uai(path)
    given = model.given(graph)
    first, second = [0.436, 0.564], [[0.128, 0.872], [0.920, 0.080]]
    third = [[0.210, 0.333, 0.457], [0.811, 0.0, 0.189]]
    for a, b, c in itertools.product(range(2), range(2), range(3)):
        weight = first[a] * second[a][b] * third[b][c] * (1.5 if (a, c) == (1, 1) else 1)
        found = np.exp(given.log_density(np.array([a, b, c])))
        assert found == pytest.approx(weight, rel=1e-5)
    # Of the loop's three factors, the weakest is not on the forest, the one with a zero is.
    assert graph.kinds["2x3"].on_tree.tolist() == [True, False]
    assert graph.kinds["2x2"].on_tree.tolist() == [True]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MARKOV", "MARKED", r":1: a UAI file begins with MARKOV or BAYES, not 'MARKED'"),
        (
            "2 2 3\n4",
            "2 2 -3\n4",
            r":3: a number of values is a whole number from 1 to 999999999, not '-3'",
        ),
        ("2 0 1\n", "2 0 3\n", r":6: a variable is a whole number from 0 to 2, not '3'"),
        ("2 0 1\n", "2 1 1\n", r":6: the scope \[1, 1\] has a variable twice"),
        ("6\n 0.210", "5\n 0.210", r"a table of 5 entries belongs to variables \[1, 2\]"),
        ("0.128", "-0.1", r":12: an entry of a table is a weight, 0 or larger, not '-0.1'"),
        ("0.128", "nan", r"not 'nan'"),
        ("0.128", "1e999", r"not '1e999'"),
        (" 1 1.5 1\n", " 1 1.5\n", r"the file ends where an entry of a table should be"),
        (" 1 1.5 1\n", " 1 1.5 1 9\n", r"more than the tables that were declared: '9'"),
        ("3\n2 2 3", "999999999\n2 2 3", r":3: a number of values is a whole number"),
        ("MARKOV", "MÄRKOV", r"plain ASCII"),
    ],
)
def test_uai_files_that_are_none(tmp_path, old, new, message):
    path = tmp_path / "bad.uai"
    assert old in UAI
    changed = UAI.replace(old, new, 1)
    if "999999999" in new:
        changed = "MARKOV\n999999999\n0"
    path.write_text(changed)
    with pytest.raises(InputError, match=message):
        read_uai(path)


def test_uai_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_uai(tmp_path / "none.uai")


def test_arrays():
    graph = from_arrays(np.ones((3, 2)), [[0, 1], [1, 2]], np.zeros((2, 4)), num_values=3)
    model = Model({"node": Linear(np.ones((2, 3))), "edge": Linear.zeros(4, 3, 3)})
    assert model.given(graph).log_density(jnp.array([0, 1, 2])) == 6
    alone = from_arrays(np.ones((1, 2)), [], num_values=3)
    assert len(alone.kinds["edge"].declared().scopes) == 0
    assert along(np.arange(6).reshape(2, 3), axis=0).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(InputError, match="a row for each site"):
        from_arrays(np.zeros(3), [], num_values=2)


PAIR = {"pair": [[0, 1]]}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Graph.of([2, 2], {"pair": [[0, 1], [0, 2]]}),
            r"factor 1 of 'pair' is over site 2",
        ),
        (lambda: Graph.of([2, 2], {"pair": [[1, 1]]}), r"factor 0 of 'pair' holds site 1 twice"),
        (lambda: Graph.of([2, 2], {"pair": [0, 1]}), r"'pair' have scopes of shape \(2,\)"),
        (lambda: Graph.of([2, 2], {"pair": [[0.5, 1]]}), r"'pair' have scopes of float64"),
        (lambda: Graph.of([2, 0], {}), r"site 1 has 0 values"),
        (lambda: Graph.of([], {}), r"num_values is empty; a graph needs at least one site"),
        (lambda: Graph.of([2.5], {}), r"num_values must be whole numbers"),
        (
            lambda: Graph.of([2, 2], {"pair": Factors([[0, 1]], [[1.0], [2.0]])}),
            r"features of 'pair' have shape \(2, 1\); they need one row for each of the 1 factors",
        ),
        (
            lambda: Graph.of([2, 2], {"pair": Factors([[0, 1]], [[np.nan]])}),
            r"features of 'pair' have NaN at factor 0",
        ),
        (
            lambda: Graph.of([2, 2], {"pair": Factors([[0, 1], [1, 0]], [[1.0], [-np.inf]])}),
            r"features of 'pair' have -inf at factor 1; fill it in",
        ),
        (
            lambda: Graph.of([2, 2], {"pair": Factors([[0, 1]], [["a"]])}),
            r"features of 'pair' are of type <U1; features are numbers",
        ),
        (
            lambda: Graph.of([2, 2], {"pair": Factors([[0, 1], [1, 0]], [[1.0], [1.0, 2.0]])}),
            r"features of 'pair' must be as many for each factor",
        ),
        (
            lambda: Graph.of([2, 2, 2], {"pair": [[0, 1], [2]]}),
            r"scopes of 'pair' must be all of one size; fill up shorter ones by -1",
        ),
        (lambda: Graph.of([2, [2]], PAIR), r"num_values must be whole numbers, one for each"),
        (lambda: Graph.of([2, 2], [[0, 1]]), r"factors are a list; give their kinds names"),
        (lambda: Graph.of([2, 2], PAIR, tree={"pair": ["a"]}), r"tree has for 'pair' must be num"),
        (lambda: Table([[0, 1], [0]]), r"a table needs one axis .* all rows of one size"),
        (
            lambda: Graph.of([2, 2], PAIR, tree=["link"]),
            r"tree names 'link', and there are no such",
        ),
        (
            lambda: Graph.of([2, 2, 2], {"three": [[0, 1, 2]]}, tree=["three"]),
            r"tree names 'three', whose factors hold more than 2 sites",
        ),
        (lambda: Graph.of([2, 2], PAIR, tree={"pair": [1, 2]}), r"weights of shape \(2,\)"),
        (lambda: Variables(a=((0,), 2)), r"variable 'a' has shape \(0,\) and 2 values"),
        (lambda: Variables(a=((2,), 2))["b"], r"there is no variable 'b'; there are a"),
        (lambda: Variables(a=((2,), 2)).state(b=1), r"a state needs values of a; got b"),
        (lambda: Variables(a=((2,), 2)).state(a=[0, 2]), r"a value is out of range"),
        (lambda: Table(np.zeros((2, 0))), r"none of them empty; got shape \(2, 0\)"),
        (lambda: Model({"pair": np.zeros((2, 2))}), r"the potential of 'pair' is"),
    ],
)
def test_graphs_and_models_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("potential", "message"),
    [
        (Table.zeros(2), r"tables of shape \(2,\), and its factors are over 2 sites"),
        (Table.zeros(2, 2), r"factor 0 of 'pair' is over site 1 with 3 values, and its table"),
        (Table([[0, np.nan, 0], [0, 0, 0]]), r"'pair' has nan at .weights\[0, 1\]"),
        (Table([[0, np.inf, 0], [0, 0, 0]]), r"'pair' has inf at .weights\[0, 1\]"),
        (Linear.zeros(3, 2, 3), r"'pair' does not fit the features of its factors"),
        (Tables(np.zeros((2, 2, 3))), r"tables for 2 factors, and the graph has 1"),
        (Network(lambda features: jnp.zeros(5), 2, 3), r"numbers of shape \(5,\) for one factor"),
        (Function(lambda values, features: jnp.zeros(2)), r"one number for one factor"),
        (Function(lambda values, features: jnp.log(-1.0)), r"scores of 'pair' have NaN or \+inf"),
        (Count([0.0, 1.0], [1, 0, 0]), r"'pair' has weights for 0 to 1 sites"),
        (Count([0.0, 1.0, 2.0], [1, 0]), r"says of 2 values whether they count"),
        (Table(np.full((2, 3), -np.inf)), r"rule out every state"),
    ],
)
def test_potentials_that_do_not_fit(potential, message):
    graph = Graph.of([2, 3], {"pair": Factors([[0, 1]], np.zeros((1, 2)))})
    with pytest.raises(InputError, match=message):
        Model({"pair": potential}).given(graph)


def test_sparse_features_without_weights_are_named():
    sparse = Sparse(np.array([[0], [5]]), np.ones((2, 1)))
    graph = Graph.of([2, 2], {"site": Factors([[0], [1]], sparse)})
    with pytest.raises(InputError, match=r"factor 1 of 'site' has feature 5, .* 0 to 1"):
        Model({"site": Linear.zeros(2, 2)}).given(graph)


def test_kinds_that_do_not_meet_are_named():
    with pytest.raises(InputError, match=r"potentials for \['edge'\], the graph has factors"):
        Model({"edge": Table.zeros(2, 2)}).given(Graph.of([2, 2], PAIR))


def _pair() -> Any:
    return Model({"pair": Table(np.eye(2))}).given(Graph.of([2, 2], {"pair": [[0, 1]]}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: _pair().log_density(jnp.array([1])), r"shape \(1,\).*each of the 2 sites"),
        (lambda: _pair().log_density(jnp.array([1, 1, 1])), r"shape \(3,\).*each of the 2 sites"),
        (lambda: _pair().log_density(jnp.array([1.0, 1.0])), "float32.*whole number"),
        (lambda: _pair().conditionals(jnp.array([1])), "each of the 2 sites"),
        (lambda: _pair().conditionals(jnp.array([0, 0]), [5]), "no site 5; there are sites 0 to 1"),
        (lambda: _pair().conditionals(jnp.array([0, 0]), [0.5]), "whole numbers"),
        (lambda: Table(np.eye(2) * 1j), "complex128.*real part"),
        (lambda: Table([["a", "b"]]), "real numbers; got <U1"),
        (lambda: Variables(a=((2,), 3)).state(a=[0, 1, 2]), r"'a'.*\(3,\).*\(2,\)"),
        (lambda: Variables(a=((2,), 3)).state(a=1), r"'a'.*\(2,\)"),
        (lambda: Variables(a=((2,), 3)).state(a=[0.5, 1]), "'a'.*float64.*whole numbers"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: Any, message: str):
    with pytest.raises(InputError, match=message):
        wrong()


def test_a_factor_over_no_variable_is_a_constant_that_counts(tmp_path):
    """By hand: 7·(1 + 3) in all, and 7·3 for the second value."""
    path = tmp_path / "constant.uai"
    path.write_text("MARKOV 1 2 2 0 1 0 1 7 2 1 3")
    model, graph = read_uai(path)
    given = model.given(graph)
    assert float(given.law.log_partition) == pytest.approx(np.log(28), rel=1e-6)
    assert float(given.log_density(jnp.array([1]))) == pytest.approx(np.log(21), rel=1e-6)


def test_numbers_that_are_too_large_hear_of_the_limit(tmp_path):
    path = tmp_path / "large.uai"
    path.write_text("MARKOV 1 1000000000000 1 1 0 2 1 1")
    with pytest.raises(InputError, match="from 1 to 999999999, not '1000000000000'"):
        read_uai(path)


def test_double_precision_gives_no_warning():
    with jax.enable_x64(True):
        given = _pair()
        assert float(given.law.log_partition) == pytest.approx(np.log(2 + 2 * np.e), rel=1e-12)
