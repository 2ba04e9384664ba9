"""Exact sums with n-grams and word lists, against enumeration of all labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from doeblin._automaton import ngrams
from doeblin.crf._exact import Coarse, Places, Structure, Theta, learned
from doeblin.crf._lbfgs import lowest

LABELS, FEATURES = 3, 4


def places(rng: np.random.Generator, lengths: list[int], kind: str) -> Places:
    size = sum(lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if kind == "dense":
        none = np.zeros(0, np.float32)
        dense = rng.normal(size=(size, FEATURES)).astype(np.float32)
        return Places(starts, dense, np.zeros(1, np.int64), none.astype(np.int32), none)
    counts = rng.integers(0, 3, size=size)
    first = np.concatenate([[0], np.cumsum(counts)])
    numbers = rng.integers(0, FEATURES, size=first[-1]).astype(np.int32)
    values = rng.normal(size=first[-1] if kind == "values" else 0).astype(np.float32)
    return Places(starts, None, first, numbers, values)


def features(data: Places, place: int) -> np.ndarray:
    if data.dense is not None:
        return data.dense[place]
    found = np.zeros(FEATURES)
    for entry in range(data.first[place], data.first[place + 1]):
        found[data.numbers[entry]] += data.values[entry] if len(data.values) else 1
    return found


def log_weight(theta, patterns, words, seen, labels) -> float:
    """From the definition, without the automaton."""
    total = sum(float(row @ theta.weights[:, y]) for row, y in zip(seen, labels, strict=True))
    total += float(theta.start[labels[0]] + theta.end[labels[-1]])
    total += sum(float(theta.transitions[a, b]) for a, b in itertools.pairwise(labels))
    symbols = (LABELS, *labels, LABELS)
    for weight, pattern in zip(theta.patterns, patterns, strict=True):
        windows = (symbols[at : at + len(pattern)] for at in range(len(symbols)))
        total += float(weight) * sum(window == pattern for window in windows)
    if tuple(labels) in words:
        total += float(theta.words[0] + theta.words[1] * words[tuple(labels)])
    return total


@pytest.fixture(params=["dense", "values", "indicators"])
def case(request):
    """Patterns that end in each other, start and end at boundaries, and are their own suffixes."""
    rng = np.random.default_rng(len(request.param))
    patterns = [*ngrams([(0, 1, 0, 0, 2), (1, 1, 1)], (3, 4), LABELS), (0, 0, 0, 0), (2, 1, 0)]
    patterns = sorted(set(patterns))
    words = {(0, 1): 0.5, (2, 2, 2, 1): -1.0, (0, 1, 2, 0): 2.0, (1,): 0.1}
    lengths = [4, 1, 2, 5, 3]
    data = places(rng, lengths, request.param)
    structure = Structure(FEATURES, LABELS, patterns, words)
    vector = rng.normal(0, 0.7, size=structure.size).astype(np.float32)
    theta = Theta.views(vector, structure.shapes)
    every = []
    for begin, end in itertools.pairwise(data.starts):
        seen = [features(data, place) for place in range(begin, end)]
        all_labels = list(itertools.product(range(LABELS), repeat=end - begin))
        weights = [log_weight(theta, patterns, words, seen, labels) for labels in all_labels]
        every.append((np.array(all_labels), np.array(weights)))
    return data, structure, theta, every


def assert_sums(structure, theta, data, every):
    """Sums, marginals, best labellings and words are those of all that are listed."""
    _, sums, expected, bonuses = structure.sums(data, theta)
    best = structure.best(data, theta)
    listed = 0.0
    for number, (labels, weights) in enumerate(every):
        here = slice(*data.starts[number : number + 2])
        total = np.log(np.exp(weights).sum())
        np.testing.assert_allclose(sums[number], total, rtol=1e-6, atol=1e-6)
        probabilities = np.exp(weights - total)
        for label in range(LABELS):
            marginal = probabilities @ (labels == label)
            np.testing.assert_allclose(expected.labels[here, label], marginal, atol=1e-6)
        chosen = (labels == best[here]).all(axis=1)
        assert chosen.any() and weights[chosen][0] >= weights.max() - 1e-5
        listed += sum(
            p for p, y in zip(probabilities, labels, strict=True) if tuple(y) in structure.bonus_of
        )
    np.testing.assert_allclose(bonuses.sum(), listed, rtol=1e-6)


def test_sums_marginals_and_maxima_are_those_of_enumeration(case):
    data, structure, theta, every = case
    assert_sums(structure, theta, data, every)


def test_counts_are_what_the_parameters_multiply(case):
    data, structure, theta, every = case
    rng = np.random.default_rng(5)
    picked = [rng.integers(len(weights)) for _, weights in every]
    labels = np.concatenate([every[i][0][at] for i, at in enumerate(picked)]).astype(np.int32)
    wanted = sum(every[i][1][at] for i, at in enumerate(picked))
    counts = structure.counts(data, labels)
    found = sum(float((a * b).sum()) for a, b in zip(counts, theta, strict=True))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_learning_ends_where_what_is_expected_is_what_was_given(case):
    data, structure, _, every = case
    labels = np.concatenate([labels[-2] for labels, _ in every]).astype(np.int32)
    l2 = 0.05
    theta = learned(structure, data, labels, l2=l2, steps=300, tolerance=1e-9)
    given = structure.counts(data, labels)
    _, _, expected, bonuses = structure.sums(data, theta)
    number = len(data.starts) - 1
    slope = given.weights.copy()
    data.take_off(expected.labels, slope)
    np.testing.assert_allclose(slope / number, l2 * theta.weights, atol=2e-3)
    np.testing.assert_allclose(
        (given.transitions - expected.steps[:-1]) / number, l2 * theta.transitions, atol=2e-3
    )
    patterns = given.patterns.copy()
    structure.hand_up(-expected.edges, -expected.ends, patterns)
    np.testing.assert_allclose(patterns / number, l2 * theta.patterns, atol=2e-3)
    listed = given.words - bonuses @ structure.features
    np.testing.assert_allclose(listed / number, l2 * theta.words, atol=2e-3)


def test_labels_that_are_not_allowed_are_as_if_they_were_not_there(case):
    data, structure, theta, every = case
    rng = np.random.default_rng(7)
    allowed = rng.random((data.starts[-1], LABELS)) < 0.5
    allowed[np.arange(len(allowed)), rng.integers(0, LABELS, len(allowed))] = True
    assert (~allowed).sum() > 0
    possible = []
    for number, (labels, weights) in enumerate(every):
        here = slice(*data.starts[number : number + 2])
        some = np.take_along_axis(allowed[here], labels.T, axis=1).all(axis=0)
        possible.append((labels[some], weights[some]))
    assert_sums(structure, theta, data._replace(allowed=allowed), possible)


def test_derivatives_are_those_of_the_sums(case):
    """By differences of each pattern's and step's weight, labels left out."""
    data, structure, theta, _ = case
    allowed = np.ones((data.starts[-1], LABELS), bool)
    allowed[::2, 1] = False
    fewer = data._replace(allowed=allowed)
    _, _, expected, _ = structure.sums(fewer, theta)
    patterns = np.zeros(len(theta.patterns))
    structure.hand_up(expected.edges.copy(), expected.ends.copy(), patterns)
    for own, found in ((theta.patterns, patterns), (theta.transitions, expected.steps[:-1])):
        for at in np.ndindex(own.shape):
            before, values = own[at], []
            for change in (0.01, -0.01):
                own[at] = before + change
                values.append(structure.sums(fewer, theta)[1].sum())
            own[at] = before
            np.testing.assert_allclose(found[at], (values[0] - values[1]) / 0.02, atol=1e-3)


def test_pruning_keeps_what_is_likely_and_what_is_given():
    rng = np.random.default_rng(1)
    data = places(rng, [4, 3], "dense")
    pairs = Structure(FEATURES, LABELS)
    theta = Theta.views(rng.normal(0, 2, pairs.size).astype(np.float32), pairs.shapes)
    likely = pairs.sums(data, theta)[2].labels
    given = likely.argmin(axis=1).astype(np.int32)
    assert (likely.min(axis=1) < 0.2).all()
    for least in (0.2, 0.9):
        found = Coarse(pairs, theta, least).pruned(data).allowed
        assert found is not None
        top = np.arange(LABELS) == likely.argmax(axis=1)[:, None]
        np.testing.assert_array_equal(found, (likely >= least) | top)
        kept = Coarse(pairs, theta, least).pruned(data, given).allowed
        np.testing.assert_array_equal(kept, found | (np.arange(LABELS) == given[:, None]))


def test_sequences_without_places_change_nothing(case):
    data, structure, theta, _ = case
    _, sums, expected, _ = structure.sums(data, theta)
    more = data._replace(starts=np.repeat(data.starts, [2, 1, 1, 3, 1, 2]))
    _, found, same, _ = structure.sums(more, theta)
    np.testing.assert_array_equal(found, [0, *sums[:3], 0, 0, *sums[3:], 0])
    np.testing.assert_array_equal(same.labels, expected.labels)
    np.testing.assert_array_equal(structure.best(more, theta), structure.best(data, theta))


def test_lbfgs_finds_the_lowest_point():
    """Rosenbrock's valley, whose lowest point is (1, …, 1)."""

    def loss(x):
        value = np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        slope = np.zeros_like(x)
        slope[:-1] += -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
        slope[1:] += 200 * (x[1:] - x[:-1] ** 2)
        return float(value), slope

    found = lowest(loss, np.zeros(6), steps=500, tolerance=0.0)
    np.testing.assert_allclose(found, 1, atol=1e-5)
