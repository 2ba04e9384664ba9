"""The sequence labeller: its kernel against enumeration, and what extra features bring."""

from __future__ import annotations

import copy
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.crf import LinearChainCRF, SequenceGibbs, SequenceLabeller
from doeblin.crf._decoders import most_visited
from doeblin.crf._labeller import given
from doeblin.learning import FixedHorizon, Reversal

COMPILED: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **_: COMPILED.append(name) if "backend_compile" in name else None
)
PLACES, LABELS = 3, 2
BATCH = 256  # So many sequences are decoded at once: compiled once for all that are.
ALL = np.array(list(itertools.product(range(LABELS), repeat=PLACES)))


def parity(labels, x):
    """Whether the number of ones is even: a feature that no linear chain has."""
    inside = jnp.arange(labels.shape[0]) < x.length
    return (jnp.where(inside, labels, 0).sum() % 2 == 0)[None]


def sequences(count: int, seed: int) -> tuple[list[np.ndarray], list[list[str]]]:
    """Labels with an even number of ones, seen through noise; lengths differ.

    Who knows the parity, and all else, gets 0.12 places in a sequence more right than who does not:
    ten standard errors of 1000 sequences. (With noise of 0.7 and longer ones it is less than four.)
    """
    rng = np.random.default_rng(seed)
    observed, labels = [], []
    for length in rng.integers(2, PLACES + 1, size=count):
        own = rng.integers(0, 2, size=length)
        own[-1] = own[:-1].sum() % 2
        observed.append((own + rng.normal(0, 0.4, size=length))[:, None])
        labels.append(["one" if label else "nil" for label in own])
    return observed, labels


@pytest.fixture(scope="module")
def fitted() -> SequenceLabeller:
    # Blocks, because no change of a single place keeps the parity.
    labeller = SequenceLabeller(
        parity,
        kernel="block",
        epsilon=0.4,
        num_walks=4,
        num_proposals=4,
        epochs=4,
        learning_rate=0.7,
        num_buckets=1,
        predict_walks=16,
    )
    return labeller.fit(*sequences(128, 0))


@pytest.mark.thorough  # what is predicted is the law, below
def test_extra_features_bring_what_a_crf_cannot_have(fitted: SequenceLabeller):
    train, test = sequences(128, 0), sequences(2 * BATCH, 1)
    crf = SequenceLabeller(num_buckets=1).fit(*train)
    assert crf.fit_ is None
    assert fitted.fit_ is not None
    history = [row["log_likelihood"] for row in fitted.fit_.history]
    assert history[-1] > history[0]
    predicted, plain = fitted.predict(test[0]), crf.predict(test[0])
    # Paired over sequences: how many more places are right than by the CRF alone.
    gains = np.array(
        [
            np.sum(np.array(new) == wanted) - np.sum(np.array(old) == wanted)
            for new, old, wanted in zip(predicted, plain, test[1], strict=True)
        ]
    )
    assert gains.mean() > 3 * gains.std(ddof=1) / np.sqrt(len(gains))
    # The first batch again.
    some = slice(BATCH)
    right = np.concatenate(predicted[some]) == np.concatenate(test[1][some])
    assert fitted.score(test[0][some], test[1][some]) == right.mean()


def exact_laws(labeller: SequenceLabeller, observed: list[np.ndarray]) -> list[np.ndarray]:
    """π̃ of sequences of full length by linear algebra, from their kernels' own probabilities."""
    chain, states = labeller.chain(), jnp.asarray(ALL)
    kernel = next(kernel for kernel in chain.kernels if kernel is not None)

    @jax.jit
    @jax.vmap
    def parts(encoded):
        x = given(labeller.parameters_, encoded)
        row = jax.vmap(lambda new, old: kernel.log_prob(new, old, x), in_axes=(0, None))
        restart = jax.vmap(lambda state: chain.restart.log_prob(state, x))
        return jax.vmap(row, in_axes=(None, 0))(states, states), restart(states)

    encoded = [labeller.encoder_.encode(sequence) for sequence in observed]
    stacked = parts(jax.tree.map(lambda *leaves: jnp.stack(leaves), *encoded))
    moves, u = (np.exp(part, dtype=np.float64) for part in stacked)
    rest = 1 - labeller.epsilon
    return [
        labeller.epsilon * np.linalg.solve((np.eye(len(ALL)) - rest * own).T, start)
        for own, start in zip(moves, u, strict=True)
    ]


def test_predictions_are_those_of_the_stationary_law(fitted: SequenceLabeller):
    """Marginals and the most probable labelling, against enumeration, of a kernel of one's own."""
    made = []

    def own_gibbs(density, restart):
        made.append(restart)
        return SequenceGibbs(density, LABELS, lambda x: x.full.length)

    fitted = copy.copy(fitted).set_params(kernel=own_gibbs)
    observed = [one for one in sequences(60, 7)[0] if len(one) == PLACES][:20]
    joint, marginals = fitted.predict(observed, decode="joint"), fitted.predict_marginals(observed)
    # Each of the 16 walks gives its states their share of the law: an independent sample.
    walks = fitted.predict_walks
    for law, own, labels in zip(exact_laws(fitted, observed), marginals, joint, strict=True):
        np.testing.assert_allclose(law.sum(), 1, atol=1e-4)
        exact = law @ ALL
        error = np.sqrt(exact * (1 - exact) / walks)
        assert np.all(np.abs(own[:, 1] - exact) <= 5 * error + 1e-3)
        np.testing.assert_allclose(own.sum(axis=1), 1, atol=1e-4)
        number = np.ravel_multi_index([label == "one" for label in labels], (LABELS,) * PLACES)
        assert law[number] >= law.max() - 5 * np.sqrt(law.max() / walks)
    assert all(isinstance(restart, LinearChainCRF) for restart in made) and made
    with pytest.raises(InputError, match=r"made 'gibbs', which is no kernel"):
        copy.copy(fitted).set_params(kernel=lambda density, restart: "gibbs").chain()


def test_right_after_initialisation_the_likelihood_is_the_crfs(fitted: SequenceLabeller):
    labeller = copy.copy(fitted).set_params(kernel="gibbs", epsilon=0.1)
    base, extra = fitted.parameters_.base, type(fitted.parameters_.density)(jnp.zeros(1), parity)
    zeroed = type(fitted.parameters_)(base, base, extra)
    (observed,), (labels,) = sequences(1, 0)
    encoded = jax.tree.map(jnp.asarray, labeller.encoder_.encode(observed))
    y = jnp.asarray(labeller.encoder_.encode_labels(labels))
    x, chain = given(zeroed, encoded), labeller.chain(zeroed)
    estimator = Reversal(FixedHorizon(0.1, steps=60), num_walks=4)
    estimate = eqx.filter_jit(estimator)(jax.random.key(0), chain, y, x)
    # All walks weigh the same; only the tails' lengths are random, of 0.9^60 of the mass.
    np.testing.assert_allclose(
        estimate.log_likelihood, chain.restart.log_prob(y, x), atol=4 * 0.9**60
    )


def test_sequence_gibbs_moves_as_it_says():
    places = 4
    all_labels = np.array(list(itertools.product(range(LABELS), repeat=places)))
    table = jnp.asarray(np.random.default_rng(3).normal(size=LABELS**places))
    powers = jnp.asarray(LABELS ** np.arange(places)[::-1])
    kernel = SequenceGibbs(lambda y, x: table[y @ powers], LABELS, lambda x: x)
    length = jnp.array(3)
    states = jnp.asarray(all_labels)[all_labels[:, 3] == 0]

    @jax.jit
    def matrix():
        row = jax.vmap(lambda new, old: kernel.log_prob(new, old, length), in_axes=(0, None))
        return jnp.exp(jax.vmap(row, in_axes=(None, 0))(states, states))

    moves = np.asarray(matrix())
    np.testing.assert_allclose(moves.sum(axis=1), 1, atol=1e-5)
    law = np.exp(np.asarray(table))[np.asarray(states @ powers)]
    flow = law[:, None] * moves
    np.testing.assert_allclose(flow, flow.T, atol=1e-5)
    new = jax.jit(jax.vmap(lambda key: kernel.sample(key, states[5], length)))(
        jax.random.split(jax.random.key(0), 4000)
    )
    counts = np.bincount(np.asarray(new @ powers) // 2, minlength=8) / 4000
    error = np.sqrt(moves[5] * (1 - moves[5]) / 4000)
    assert np.all(np.abs(counts - moves[5]) <= 5 * error + 1e-9)


@pytest.mark.thorough
def test_a_second_labeller_compiles_nothing(fitted: SequenceLabeller):
    observed = sequences(BATCH, 3)[0]
    fitted.predict(observed)
    COMPILED.clear()
    again = SequenceLabeller(**{**fitted.get_params(), "epochs": 1}).fit(*sequences(128, 0))
    assert again.predict(observed) == again.predict(observed)
    assert COMPILED == []
    # The same seed and data: the first of the other's epochs.
    assert again.fit_ is not None and fitted.fit_ is not None
    both = [labeller.fit_.history[0]["log_likelihood"] for labeller in (again, fitted)]
    assert both[0] == both[1]


def test_numbers_that_are_not_finite_are_refused_by_name(fitted: SequenceLabeller):
    X, y = sequences(3, 0)
    X[1][2, 0] = np.inf
    for attempt in (SequenceLabeller().fit, fitted.score, lambda X, y: fitted.predict(X)):
        with pytest.raises(InputError, match="sequence 1 has feature 0 = inf at place 2"):
            attempt(X, y)
    named = [[{"size": 1.0}, {"size": float("nan")}]]
    with pytest.raises(InputError, match="sequence 0 has feature 'size' = nan at place 1"):
        SequenceLabeller().fit(named, [["a", "b"]])


def test_feature_dictionaries_and_names():
    X = [[{"word": "a", "size": 2.0}, {"word": "b"}], [["x", "y"], ["z"]][:1]]
    y = [["N", "V"], ["V"]]
    labeller = SequenceLabeller(crf_steps=30, num_buckets=1).fit(X, y)
    assert labeller.classes_ == ["N", "V"]
    assert labeller.predict([[{"word": "a"}, {"word": "unseen"}]])[0][0] == "N"
    assert labeller.predict([]) == []


def test_it_is_an_estimator_as_scikit_learn_knows_them():
    from sklearn.base import clone  # where it is used: every worker reads this file

    labeller = SequenceLabeller(parity, epochs=2)
    assert clone(labeller).get_params()["epochs"] == 2
    assert labeller.set_params(epochs=3).epochs == 3
    with pytest.raises(InputError, match="no option 'speed'"):
        labeller.set_params(speed=1)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], "no sequences"),
        ([np.zeros((2, 1))], [["a"]], "sequence 0 has 2 places and 1 labels"),
        ([np.zeros((2, 1))], [], "1 sequences have 0"),
        ([["the", "dog"]], [["D", "N"]], r"the string 'the', whose letters .*\{'word': 'the'\}"),
        ([np.zeros((2, 1))], ["ab"], r"the string 'ab', which would be taken apart.*\['a', 'b'\]"),
        ([np.zeros((2, 1))], [["a", None]], "sequence 0 has the label None at place 1"),
        ([np.zeros((2, 1))], [[0.0, np.nan]], "sequence 0 has the label nan at place 1"),
        ([np.zeros((2, 1))], [["a", 1]], "labels must be of one type that can be ordered"),
        ([np.zeros((2, 1))], [["a", []]], "labels must be of one type that can be ordered"),
        ([np.zeros(2)], [["a", "b"]], r"a sequence of shape \(2,\) needs features at each place"),
        ([[{"w": None}]], [["a"]], "feature 'w' = None is neither a number nor a string"),
    ],
)
def test_bad_data_are_refused(X, y, message):
    with pytest.raises(InputError, match=message):
        SequenceLabeller().fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crf_steps": -1}, "crf_steps = -1 must be at least 0"),
        ({"crf_steps": 2.5}, "crf_steps = 2.5 must be a whole number"),
        ({"l2": -1.0}, "l2 = -1.0 must be a finite number, zero or more"),
        ({"l2": float("nan")}, "l2 = nan must be"),
        ({"learning_rate": float("nan")}, "learning_rate = nan must be"),
        ({"predict_walks": 0}, "predict_walks = 0 must be at least 1"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        SequenceLabeller(**options).fit([np.zeros((2, 1))], [["a", "b"]])


def test_unfitted_and_unknown_are_refused(fitted: SequenceLabeller):
    with pytest.raises(InputError, match="has not been fitted"):
        SequenceLabeller().predict([np.zeros((2, 1))])
    with pytest.raises(InputError, match="did not occur in training"):
        fitted.encoder_.encode_labels(["two"])
    with pytest.raises(InputError, match="1 features at each place"):
        fitted.predict([np.zeros((2, 3))])


def spelled(count: int, seed: int) -> tuple[list[np.ndarray], list[list[str]]]:
    """Two words that pairs of letters cannot tell apart, seen through noise."""
    rng = np.random.default_rng(seed)
    labels = [list(("abcab", "bcabc", "acbac")[which]) for which in rng.integers(0, 3, size=count)]
    seen = [
        np.eye(3)["abc".index(a)] * 0.8 + rng.normal(0, 0.8, size=3) for own in labels for a in own
    ]
    return list(np.array(seen).reshape(count, 5, 3)), labels


def test_ngrams_and_word_lists_bring_what_pairs_cannot():
    train, test = spelled(60, 0), spelled(200, 1)
    scores = {}
    for name, options in {
        "pairs": {},
        "ngrams": {"ngrams": (3, 4)},
        "pruned": {"ngrams": (3, 4), "prune": 0.1},
        "words": {"words": ["abcab", "bcabc", "acbac", "xxxxx", ""]},
        "numbers": {"words": {"abcab": 0.1, "bcabc": 0.2, "acbac": 0.3}},
    }.items():
        labeller = SequenceLabeller(**options).fit(*train)
        marginals = labeller.predict_marginals(test[0])
        np.testing.assert_allclose([each.sum(axis=1) for each in marginals], 1, atol=1e-5)
        found = labeller.predict(test[0], decode="joint")
        scores[name] = np.mean(np.array(found) == np.array(test[1]))
        assert len(labeller.theta_.words) == (2 if "words" in options else 0)
        assert labeller.score(*test) > 0.5
        left_out = np.mean([each == 0 for each in marginals])
        assert (left_out > 0.1) == ("prune" in options)
    # Five standard errors of 1,000 places.
    worst = min(score for name, score in scores.items() if name not in ("pairs", "pruned"))
    assert worst > scores["pairs"] + 0.08
    # Pruned by what pairs know, it has lost a little of that.
    assert scores["pairs"] + 0.04 < scores["pruned"] <= scores["ngrams"] + 0.02


def test_sequences_without_places_have_no_labels(fitted: SequenceLabeller):
    observed = sequences(BATCH, 3)[0]
    with_none = [np.zeros((0, 1)), *observed[:2], [], *observed[2:]]
    for labeller in (fitted, SequenceLabeller(num_buckets=1).fit(*sequences(16, 0))):
        for decode in ("marginal", "joint"):
            found = labeller.predict(with_none, decode=decode)
            assert [len(each) for each in found] == [len(each) for each in with_none]
        assert labeller.predict([[]]) == [[]]
        assert [len(each) for each in labeller.predict_marginals(with_none)] == [
            len(each) for each in with_none
        ]
        assert labeller.predict_marginals([[]])[0].shape == (0, LABELS)


def test_joint_decoding_finds_the_labelling_of_the_largest_weight():
    rng = np.random.default_rng(0)
    states, weights = rng.integers(0, 2, size=(300, 6)), rng.random(300)
    totals: dict[tuple[int, ...], float] = {}
    for state, weight in zip(states.tolist(), weights, strict=True):
        totals[tuple(state)] = totals.get(tuple(state), 0) + weight
    found = jax.jit(most_visited, static_argnums=2)(jnp.asarray(states), jnp.asarray(weights), 2)
    assert tuple(np.asarray(found).tolist()) == max(totals, key=lambda state: totals[state])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ngrams": (2,)}, "ngrams = 2 must be at least 3"),
        ({"ngrams": (3,), "prune": 1.5}, "prune = 1.5 must be a probability"),
        ({"words": {"ab": float("inf")}}, r"words has inf for \['a', 'b'\]"),
        ({"ngrams": (3,), "extra": parity}, "leave out `ngrams` and `words`"),
    ],
)
def test_bad_patterns_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        SequenceLabeller(**options).fit([np.zeros((2, 1))], [["a", "b"]])


def test_a_bad_sequence_is_named_by_its_index(fitted: SequenceLabeller):
    good = np.zeros((2, 1))
    for labeller in (fitted, SequenceLabeller().fit([good], [["a", "b"]])):
        with pytest.raises(InputError, match=r"sequence 1 has features of shape \(2, 3\)"):
            labeller.predict([good, np.zeros((2, 3))])
        with pytest.raises(InputError, match=r"sequence 1 is no array of numbers of shape"):
            labeller.predict([good, [[1.0], [1.0, 2.0]]])


@pytest.mark.thorough
def test_where_memory_is_short_batches_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch):
    """Eight parts of one sequence make a step; the law is the same, so the predictions are, too."""
    monkeypatch.setattr("doeblin.crf._labeller._MOST_BYTES", 1)
    data = sequences(16, 0)
    labeller = SequenceLabeller(
        parity, kernel="gibbs", epsilon=0.2, batch_size=8, epochs=2, num_buckets=1, num_walks=2
    ).fit(*data)
    assert labeller.fit_ is not None and abs(labeller.parameters_.density.weights[0]) > 0
    marginals = labeller.predict_marginals(data[0][:3])
    for each, observed in zip(marginals, data[0], strict=False):
        assert each.shape == (len(observed), LABELS)
        np.testing.assert_allclose(each.sum(axis=1), 1, atol=1e-4)


@pytest.mark.parametrize(("l2", "prune"), [(1e-8, 1e-3), (1e-12, 0.3), (0.0, 0.0)])
def test_what_can_be_learned_without_end_is_learned(l2: float, prune: float):
    observed = [[["b"], ["b"]], [["a"], ["a"], ["b"]]]
    labels = [["B", "B"], ["A", "A", "B"]]
    labeller = SequenceLabeller(ngrams=(3,), prune=prune, l2=l2).fit(observed, labels)
    assert labeller.predict(observed) == labels
    single = SequenceLabeller(l2=0.0).fit(
        [[{"v": 1.0, "r": 0.7}, {"w": 1.0, "r": 1.6}]], [["A", "B"]]
    )
    assert np.isfinite(single.theta_.weights).all()
