"""The labeller of graphs, held against enumeration; and what it keeps, against itself."""

from __future__ import annotations

import pickle
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import optax
import pytest

from doeblin import InputError
from doeblin.factors import (
    ColourGibbs,
    Completion,
    FactorLikelihood,
    Factors,
    Graph,
    GraphLabeller,
    Linear,
    Model,
    SiteGibbs,
    Table,
    Tables,
    along,
    annealed,
    labelled,
)
from doeblin.learning import Fit, Interrupted, RestartLikelihood, Reversal, fit
from doeblin.learning._metrics import Progress

from ..statistics import assert_follows

EPSILON = 0.25
SITES = 4


def ring(seed: int, size: int = SITES) -> Graph:
    """A ring has one edge beyond its forest."""
    sites = np.arange(size)
    features = np.random.default_rng(seed).normal(size=(size, 2))
    edges = np.stack([sites, (sites + 1) % size], axis=1)
    return Graph.of(np.full(size, 2), {"site": Factors(sites[:, None], features), "edge": edges})


def blank() -> Model:
    return Model({"site": Linear.zeros(2, 2), "edge": Table.zeros(2, 2)})


X = [ring(seed) for seed in range(12)]
# Of the first feature, and like the neighbours.
Y = [
    (graph.kinds["site"].features[:, 0] + np.roll(graph.kinds["site"].features[:, 0], 1) > 0) * 1
    for graph in X
]
STATES = np.array(list(np.ndindex(*[2] * SITES)))


def labeller(learn="pseudo", **options) -> GraphLabeller:
    kept = {"restart_epochs": 6, "epochs": 6, "num_buckets": 1, "epsilon": EPSILON} | options
    return GraphLabeller(blank(), learn=learn, **kept)


@pytest.fixture(scope="module")
def fitted() -> GraphLabeller:
    return labeller(num_tours=500).fit(X, Y)


def by_hand(potentials, graph: Graph, *, on_tree: bool) -> np.ndarray:
    """The score of each state."""
    field = graph.kinds["site"].features @ np.asarray(potentials["site"].weights, float)
    table = np.asarray(potentials["edge"].weights, float)
    total = field[np.arange(SITES), STATES].sum(axis=1)
    kind = graph.kinds["edge"]
    for (one, other), used in zip(kind.scopes, kind.on_tree, strict=True):
        if used or not on_tree:
            total = total + table[STATES[:, one], STATES[:, other]]
    return total


def law_by_hand(fitted: GraphLabeller, graph: Graph) -> np.ndarray:
    """π̃ = ε u Σ (1-ε)^t A^t, A one redraw of each colour after the other."""
    density = by_hand(fitted.model_.potentials, graph, on_tree=False)
    log_u = by_hand(fitted.model_.base, graph, on_tree=True)
    u = np.exp(log_u) / np.exp(log_u).sum()
    kernel = np.eye(len(STATES))
    for site in (site for colour in graph.colours for site in colour if site >= 0):
        redraw = np.zeros((len(STATES), len(STATES)))
        for number, state in enumerate(STATES):
            others = (state == STATES) | (np.arange(SITES) == site)
            both = np.flatnonzero(others.all(axis=1))
            redraw[number, both] = np.exp(density[both]) / np.exp(density[both]).sum()
        kernel = kernel @ redraw
    return EPSILON * np.linalg.solve((np.eye(len(STATES)) - (1 - EPSILON) * kernel).T, u)


@pytest.mark.thorough  # `test_regeneration.py` has the error of one tour
def test_what_no_tour_met_is_not_called_certain(monkeypatch: pytest.MonkeyPatch):
    """A site that is 1 with probability 1e-3: of 64 graphs a tour or none meets it."""
    graph = Graph.of([2, 3, 2], {"rare": [[0], [1], [2]], "pair": [[0, 1], [1, 2], [2, 0]]})
    scores = {"rare": Table([0.0, -7.0, -7.0]), "pair": Table.zeros(3, 3)}
    # It is as it should be: there is nothing to learn.
    monkeypatch.setattr(
        "doeblin.factors._labeller.fit", lambda objective, start, *_, **__: Fit(start, [], 0, False)
    )
    labeller = GraphLabeller(Model(scores), learn="pseudo", num_tours=64)
    labeller.fit([graph], [np.zeros(3, int)])
    found = labeller.predict_marginals([graph])[0]
    truth = np.exp(-7) / (1 + np.exp(-7))
    assert abs(found.mean[0, 1] - truth) < 1.96 * found.standard_error[0, 1]
    assert (found.standard_error[:, :2] >= 1.5 / 64).all()
    assert found.standard_error[0, 2] == 0  # There is no such value.


def test_answers_are_those_of_the_learned_law(fitted: GraphLabeller):
    graph = X[3]
    law = law_by_hand(fitted, graph)
    density = by_hand(fitted.model_.potentials, graph, on_tree=False)
    found = fitted.predict_marginals([X[0], graph])[1]
    truth = np.stack([law @ (1 - STATES), law @ STATES], axis=1)
    assert (found.standard_error > 0).all() and (found.standard_error < 0.05).all()
    assert (abs(found.mean - truth) < 5 * found.standard_error).all()
    drawn = fitted.sample([graph], 4000)[0]
    assert_follows(drawn @ (2 ** np.arange(SITES)[::-1]), law)
    best = fitted.best([graph])[0]
    assert best.score == pytest.approx(density.max(), abs=1e-4)
    assert (best.labels == STATES[density.argmax()]).all()
    assert (fitted.predict([graph], decode="joint")[0] == best.labels).all()
    # It has learned something, and A something else than u.
    assert fitted.score(X[:4], Y[:4]) > 0.7
    assert abs(density - by_hand(fitted.model_.base, graph, on_tree=True)).max() > 0.1
    labels = fitted.predict(X[:4])
    assert (labels[3] == fitted.predict_marginals(X[:4])[3].mean.argmax(axis=1)).all()
    known = [np.where(np.arange(SITES) < 2, own, -1) for own in Y[:4]]
    right = [(one == other)[:2] for one, other in zip(labels, Y, strict=False)]
    assert fitted.score(X[:4], known) == pytest.approx(np.mean(right))


def test_what_was_learned_can_be_kept(fitted: GraphLabeller, tmp_path: Path):
    path = tmp_path / "rings.safetensors"
    fitted.save(path)
    loaded = labeller(num_tours=500).load(path)
    again = pickle.loads(pickle.dumps(fitted))
    for other in (loaded, again):
        mine, theirs = (one.predict_marginals(X[:1])[0] for one in (fitted, other))
        np.testing.assert_array_equal(mine.mean, theirs.mean)
    with pytest.raises(InputError, match=r"learned with epsilon = 0.25, and .* has 0.5"):
        labeller(epsilon=0.5).load(path)
    with pytest.raises(
        InputError, match=r"learned with kernel = 'ColourSweep', and .* 'SiteGibbs'"
    ):
        labeller(kernel=SiteGibbs()).load(path)
    larger = Model({"site": Linear.zeros(3, 2), "edge": Table.zeros(2, 2)})
    with pytest.raises(InputError, match=r"'site'.*float32\[2, 2\] in it, but float32\[3, 2\]"):
        GraphLabeller(larger).load(path)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(InputError, match=r"rings.safetensors.*damaged"):
        labeller().load(path)
    with pytest.raises(InputError, match="no such file"):
        labeller().load(tmp_path / "none")


@pytest.mark.thorough  # `tests/crf/test_labeller.py` is used by it, too
def test_scikit_learn_can_use_it():
    # Where it is used: every worker reads this file.
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    plain = labeller("restart")
    assert clone(plain).get_params()["epsilon"] == EPSILON
    found = cross_val_score(plain, X + X, Y + Y, cv=2)
    assert found.shape == (2,) and (found > 0.5).all()
    # Everything about the restart is exact.
    plain.fit(X, Y)
    weight = np.exp(by_hand(plain.model_.base, X[1], on_tree=True))
    marginals, best = plain.predict_marginals(X[1:2])[0], plain.best(X[1:2])[0]
    np.testing.assert_allclose(marginals.mean[:, 1], weight @ STATES / weight.sum(), atol=1e-5)
    assert (marginals.standard_error == 0).all()
    assert best.score == pytest.approx(np.log(weight.max() / weight.sum()), abs=1e-4)
    assert set(plain.fits_) == {"restart"}


@pytest.mark.thorough  # `test_fit.py` of learning is interrupted, too
def test_ctrl_c_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch):
    """Interrupted in the third step of one example batch each, it is what three epochs give."""
    data = labelled(list(zip(X, Y, strict=True)), num_buckets=1)
    objective = FactorLikelihood(RestartLikelihood(), EPSILON)

    def train(epochs: int):
        return fit(objective, blank(), data, optimiser=optax.adam(0.1), epochs=epochs)

    three, shown = train(3), Progress.show

    def press(self, epoch, position, sums):
        shown(self, epoch, position, sums)
        if epoch == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "show", press)
    with pytest.raises(Interrupted, match="after 3 steps") as stopped:
        train(9)
    kept = stopped.value.fit
    assert kept.steps == 3 and len(kept.history) == 2
    for mine, theirs in zip(
        jax.tree.leaves(kept.parameters), jax.tree.leaves(three.parameters), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    stopping = labeller()
    with pytest.raises(KeyboardInterrupt):
        stopping.fit(X, Y, validation=(X[:4], Y[:4]))
    # The best so far on the validation data.
    assert stopping.fits_["restart"].steps == 3
    assert abs(stopping.model_.base["site"].weights).max() > 0.1
    # The chain's law is u until A is learned.
    assert np.ptp(
        by_hand(stopping.model_.potentials, X[0], on_tree=True)
        - by_hand(stopping.model_.base, X[0], on_tree=True)
    ) == 0  # fmt: skip
    assert abs(stopping.model_.beyond["edge"].weights).max() == 0


def test_checkpoints_metrics_and_early_stopping(tmp_path: Path):
    options = {"checkpoint": tmp_path / "run", "metrics": tmp_path / "log", "patience": 1}
    held_out = ([ring(seed) for seed in range(90, 94)], [np.zeros(SITES, int)] * 4)
    first = labeller(**options).fit(X, Y, validation=held_out)
    # The held out labels contradict the others, so nothing after the first epochs is better.
    assert first.fits_["restart"].stopped_early and first.fits_["chain"].stopped_early
    assert len((tmp_path / "log").read_text().splitlines()) == len(first.fits_["chain"].history)
    second = labeller(**options).fit(X, Y, validation=held_out)
    for mine, theirs in zip(
        jax.tree.leaves(first.model_), jax.tree.leaves(second.model_), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.thorough  # `test_beyond.py` of learning has it
def test_contrastive_divergence_leaves_the_restart_alone():
    """And shows the pseudo-likelihood, which has a value."""
    found = labeller("contrastive", num_walks=4, epochs=3).fit(X, Y)
    history = [row["log_likelihood"] for row in found.fits_["chain"].history]
    assert np.isfinite(history).all() and history[-1] > history[0]
    restart = found.fits_["restart"].parameters.potentials
    for mine, theirs in zip(
        jax.tree.leaves(found.model_.base), jax.tree.leaves(restart), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_missing_labels_are_latent(monkeypatch: pytest.MonkeyPatch):
    """In both stages: the first learns from the labels that there are, of every other site; the
    second is called with u's draws of the others."""
    some = [np.where(np.arange(SITES) % 2 == 0, own, -1) for own in Y]
    calls, train = [], GraphLabeller._train

    def first_only(self, stage, estimator, *rest):
        calls.append(estimator)
        if stage == "restart":
            train(self, stage, estimator, *rest)

    monkeypatch.setattr(GraphLabeller, "_train", first_only)
    found = labeller("likelihood").fit(X, some)
    history = [row["log_likelihood"] for row in found.fits_["restart"].history]
    assert history[0] == pytest.approx(SITES / 2 * np.log(0.5), abs=1e-4)
    assert history[-1] > history[0] + 0.1
    objective = FactorLikelihood(calls[1], EPSILON)
    example = (X[0], some[0].astype(np.int32))
    assert isinstance(calls[1], Reversal) and isinstance(calls[1].proposal, Completion)
    eqx.filter_eval_shape(objective, jax.random.key(0), found.model_, example)


def test_plans_scale_with_the_model_and_say_why():
    chain = Graph.of([2] * 3, {"edge": [[0, 1], [1, 2]]})
    sites = np.arange(49).reshape(7, 7)
    right = np.stack([sites[:, :-1].ravel(), sites[:, 1:].ravel()], axis=1)
    down = np.stack([sites[:-1].ravel(), sites[1:].ravel()], axis=1)
    grid = Graph.of([2] * 49, {"edge": np.concatenate([right, down])})
    edges, rule = (
        Model({"edge": Table.zeros(2, 2)}),
        Model({"edge": Table([[0.0, -np.inf], [0, 0]])}),
    )
    loop = Graph.of([2] * 3, {"edge": [[0, 1], [1, 2], [2, 0]]})
    for model, graph, labels, learn in [
        (edges, chain, [0, 1, 0], "restart"),
        (edges, loop, [0, 1, 0], "likelihood"),
        (edges, grid, [0] * 49, "contrastive"),
        (edges, grid, [0] * 48 + [-1], "likelihood"),
        (rule, loop, [0, 0, 0], "contrastive"),
    ]:
        assert GraphLabeller(model).plan([graph], [labels]).learn == learn
    for kernel, epsilon in [(None, 0.1), (SiteGibbs(), 0.1 / 49), (ColourGibbs(), 0.1 / 2)]:
        plan = GraphLabeller(edges, kernel=kernel).plan([grid], [[0] * 49])
        assert plan.epsilon == pytest.approx(epsilon)
    plan = GraphLabeller(edges, epochs=3).plan([chain] * 40, [[0, 1, 0]] * 40)
    assert (plan.batch_size, plan.restart_epochs, plan.epochs) == (16, 100, 3)
    assert "learn = restart: all factors are on the forest" in str(plan)
    assert "epochs = 3: as you asked" in str(plan)


@pytest.mark.thorough
@pytest.mark.parametrize("learn", ["restart", pytest.param("pseudo", marks=pytest.mark.thorough)])
def test_scores_beside_a_rule_are_learned(learn: str, tmp_path: Path):
    """Zeros are never followed by ones. Of what may follow a one, two thirds are ones."""
    edges = [[0, 1], [1, 2]] if learn == "restart" else [[0, 1], [1, 2], [0, 2]]
    graph = Graph.of([2, 2, 2], {"edge": edges})
    labels = [[1, 1, 1]] * 4 + [[1, 1, 0]] * 2 + [[1, 0, 0]] + [[0, 0, 0]] * 2
    model = Model({"edge": Table([[0.0, -np.inf], [0.0, 0.0]])})
    found = GraphLabeller(model, learn=learn, l2=0.01, num_buckets=1).fit([graph] * 9, labels)
    table = np.asarray(found.model_.potentials["edge"].tables(None)[0])
    assert table[0, 1] == -np.inf and np.isfinite(table[[0, 1, 1], [0, 0, 1]]).all()
    # A one keeps its value more often than not; without learning it would be all the same.
    assert table[1, 1] > table[1, 0] + 0.2
    drawn = found.sample([graph], 300)[0]
    assert (np.diff(drawn, axis=1) <= 0).all()
    found.save(tmp_path / "rule")
    again = GraphLabeller(model, learn=learn).load(tmp_path / "rule")
    assert (np.asarray(again.model_.potentials["edge"].tables(None)[0]) == table).all()


def test_search_finds_the_best_labelling():
    """Of glasses: grids whose edges have tables of their own. Neither the forest alone nor greedy
    steps from it find it everywhere."""
    sites = np.arange(9).reshape(3, 3)
    edges = np.concatenate([along(sites, axis=0), along(sites, axis=1)])
    graph = Graph.of(np.full(9, 3), {"edge": edges})
    states = np.array(list(np.ndindex(*[3] * 9)))
    on_tree = graph.kinds["edge"].on_tree
    missed = 0
    for seed in range(8):
        tables = np.random.default_rng(seed).normal(0, 2, (len(edges), 3, 3))
        each = tables[np.arange(len(edges)), states[:, edges[:, 0]], states[:, edges[:, 1]]]
        density = each.sum(axis=1)
        found = annealed(jax.random.key(seed), Model({"edge": Tables(tables)}).given(graph))
        which = (states == np.asarray(found.labels)).all(axis=1)
        assert float(found.score) == pytest.approx(density[which][0], abs=1e-4)
        assert float(found.score) == pytest.approx(density.max(), abs=1e-4)
        missed += density[each[:, on_tree].sum(axis=1).argmax()] < density.max() - 1e-4
    assert missed > 4


def _path() -> Graph:
    return Graph.of([2, 2], {"site": Factors([[0]], [[1.0, 2.0]]), "edge": [[0, 1]]})


@pytest.mark.parametrize(
    ("options", "graphs", "labels", "message"),
    [
        ({}, [_path(), "no"], [[0, 1], [0, 1]], "graph 1 is a str; make it by Graph.of"),
        ({}, [_path()], [], "1 graphs have 0 vectors of labels"),
        ({}, [], [], "there are no graphs"),
        ({}, [_path()], [[0, 2]], "example 0 has label 2 at site 1"),
        ({}, [_path()], [[0]], "labels of example 0 have shape"),
        (
            {},
            [_path(), Graph.of([2], {"site": [[0]]})],
            [[0, 1], [0]],
            r"graph 1: the model has potentials for \['edge', 'site'\], the graph .*\['site'\]",
        ),
        (
            {},
            [Graph.of([3], {"site": Factors([[0]], [[1.0, 2.0]]), "edge": np.zeros((0, 2), int)})],
            [[2]],
            "graph 0: factor 0 of 'site' is over site 0 with 3 values",
        ),
        ({"learn": "magic"}, [_path()], [[0, 1]], "learn = 'magic' must be one of 'auto'"),
        ({"learn": "pseudo"}, [_path()], [[0, -1]], "'pseudo' needs all labels.*'likelihood'"),
        ({"epsilon": 2.0}, [_path()], [[0, 1]], "epsilon = 2 "),
        ({"epochs": 0}, [_path()], [[0, 1]], "epochs = 0 must be at least 1"),
        ({"kernel": "gibbs"}, [_path()], [[0, 1]], "kernel = 'gibbs' is no kernel"),
        ({"num_tours": 1}, [_path()], [[0, 1]], "num_tours = 1 must be at least 2"),
        ({"l2": -1}, [_path()], [[0, 1]], "l2 = -1 must be a finite number"),
        ({"model": None}, [_path()], [[0, 1]], "model = None must be"),
    ],
)  # fmt: skip
def test_bad_input_is_named(options, graphs, labels, message):
    with pytest.raises(InputError, match=message):
        GraphLabeller(**{"model": blank(), **options}).fit(graphs, labels)


def test_what_is_not_fitted_says_so(fitted: GraphLabeller):
    with pytest.raises(InputError, match="has not been fitted"):
        labeller().predict(X)
    with pytest.raises(InputError, match="decode = 'viterbi' must be"):
        fitted.predict(X, decode="viterbi")
    with pytest.raises(InputError, match="all labels are missing"):
        fitted.score(X[:1], [np.full(SITES, -1)])
    assert fitted.predict([]) == []
