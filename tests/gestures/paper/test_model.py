"""The paper's model on an instance small enough to enumerate."""

import numpy as np
import pytest

from doeblin.gestures.paper import _features as features
from doeblin.gestures.paper import _kernels as kernels
from doeblin.gestures.paper import _measure as measure
from doeblin.gestures.paper import _passes as passes
from doeblin.gestures.paper import _restart as restart
from doeblin.gestures.paper._task import Gestures
from tests.statistics import assert_follows

from .brute import (
    BASE,
    FULL,
    KEYS,
    LABELS,
    LAYOUT,
    LENGTH,
    MODEL,
    NUM,
    NUMBER,
    SIZE,
    STATES,
    WORDS,
    X,
    Y,
    block_matrix,
    conditional_of,
    exact_gradient,
    gibbs_matrix,
    law,
    objective,
    phis,
    scores,
    spelled,
    values_of,
)

GESTURES = Gestures(X[None], np.array([LENGTH]), Y[None], np.array([SIZE]))


@pytest.fixture(scope="module")
def chain():
    field = restart.make_field(KEYS, LENGTH)
    last, log_partition = restart.fill_field(field, KEYS, X, LENGTH, BASE, True, True)
    return field, last, log_partition


@pytest.mark.thorough  # the passes below learn by them
def test_lifts_are_weights_times_features():
    lifts = [features.lift(MODEL, X, np.array(z), BASE, FULL) for z in STATES]
    np.testing.assert_allclose(lifts, scores(FULL, True) - scores(BASE, False))
    # The places of the weights do not overlap: each labelling has three indicators a place.
    assert (phis(False).sum(axis=1) == 3 * LENGTH).all()


def test_the_restart_is_that_of_enumeration(chain):
    field, last, log_partition = chain
    assert log_partition == pytest.approx(np.logaddexp.reduce(scores(BASE, False)))
    slopes = features.make_slopes(NUM)
    restart.expect(KEYS, X, last, field, 1.0, slopes)
    np.testing.assert_allclose(slopes.values, law(BASE, False) @ phis(False), atol=3e-6)


def test_draws_from_the_restart_follow_its_law(chain):
    field, last, _ = chain
    passes.seed(1)
    for draw in ("suffix", "prefix"):
        found = np.empty(20_000, int)
        for k in range(len(found)):
            z = np.zeros(LENGTH, np.int64)
            if draw == "suffix":
                restart.draw_suffix(field, KEYS, 0, LENGTH, z)
            else:
                restart.draw_prefix(field, last, LENGTH, LENGTH, z)
            found[k] = NUMBER[tuple(z)]
        assert_follows(found, law(BASE, False))


@pytest.mark.thorough  # the passes below reward by it
def test_the_lattice_sums_and_draws_over_what_spells_the_word(chain):
    unary, step = chain[0].unary, chain[0].step
    sums = np.zeros((LENGTH + 2, SIZE + 3, 3))  # arrays are shared by gestures of many sizes
    value = restart.lattice(KEYS, Y, SIZE, LENGTH, True, unary, step, sums)
    right = np.array([spelled(z) == (0, 1) for z in STATES])
    weights = np.exp(scores(BASE, False)) * right
    assert value == pytest.approx(np.log(weights.sum()))
    slopes = features.make_slopes(NUM)
    restart.expect_lattice(KEYS, X, Y[:SIZE], True, chain[0], sums, 1.0, slopes)
    np.testing.assert_allclose(slopes.values, weights @ phis(False) / weights.sum(), atol=1e-10)
    passes.seed(2)
    found = np.empty(20_000, int)
    for k in range(len(found)):
        z = np.zeros(LENGTH, np.int64)
        restart.draw_lattice(KEYS, Y, SIZE, LENGTH, True, step, sums, z)
        found[k] = NUMBER[tuple(z)]
    assert_follows(found, weights / weights.sum())


@pytest.mark.thorough  # `test_both_engines_have_one_model` has them, too
def test_gibbs_conditionals_are_those_of_the_full_model():
    logs = scores(FULL, True)
    for z in STATES[::3]:
        for site in range(LENGTH):
            others = [(*z[:site], v, *z[site + 1 :]) for v in range(LABELS)]
            expected = np.array(
                [np.exp(logs[NUMBER[o]] - logs.max()) if o in NUMBER else 0.0 for o in others]
            )
            found = conditional_of(z, site)
            np.testing.assert_allclose(found.chances, expected / expected.sum(), atol=1e-12)
            slopes = features.make_slopes(NUM)
            kernels.add_score(MODEL, X, np.array(z), site, z[site], found, 1.0, slopes)
            mean = sum(
                p * phis(True)[NUMBER[o]]
                for p, o in zip(found.chances, others, strict=True)
                if p > 0
            )
            np.testing.assert_allclose(slopes.values, phis(True)[NUMBER[z]] - mean, atol=5e-4)


@pytest.mark.thorough
def test_the_block_kernel_leaves_the_full_model_alone(chain):
    field, *_ = chain
    target = law(FULL, True)
    weights = kernels.Weights(BASE, FULL, BASE)
    rng = np.random.default_rng(5)
    passes.seed(3)
    found = np.empty(20_000, int)
    for k in range(len(found)):
        z = np.array(STATES[rng.choice(len(STATES), p=target)])
        versions = np.zeros((4, LENGTH), np.int64)
        kernels.block_step(MODEL, field, X, weights, z, versions, np.zeros(4))
        found[k] = NUMBER[tuple(z)]
    assert_follows(found, target)


@pytest.mark.thorough  # compiled for it alone; what passes are made of is tested above
@pytest.mark.parametrize(
    ("backward", "proposals", "baseline"),
    [(64, 1, True),
     *(pytest.param(*each, marks=pytest.mark.thorough) for each in (
         (0, 0, False), (0, 0, True), (64, 0, False), (64, 0, True), (32, 0, True), (0, 1, True),
         (32, 1, True),
     ))],
)  # fmt: skip
def test_a_pass_of_doeblin_learning_climbs_the_likelihood(backward, proposals, baseline):
    """The mean step over many passes points along the exact gradient: of log E[reward], or, where
    chains go back in time, of the true word's likelihood itself."""
    mean_length = 3
    plan = passes.Plan(mean_length, 64, backward, proposals, baseline=baseline)
    passes.seed(4)
    moved, logs = np.zeros(2 * NUM), []
    for _ in range(400):
        weights = kernels.Weights(BASE.copy(), FULL.copy(), BASE)
        squares = np.zeros(NUM), np.zeros(NUM)
        # A huge delta makes AdaGrad's step proportional to the gradient.
        log_value, _ = passes.doeblin_pass(
            MODEL, GESTURES, np.array([0]), weights, squares, plan, features.Rate(1.0, 1e12)
        )
        moved += np.concatenate([weights.restart - BASE, weights.full - FULL]) * 1e6 / 400
        logs.append(log_value)
    matrix = block_matrix if proposals else gibbs_matrix
    name = "word" if backward else "reward"
    gradient = exact_gradient(mean_length, matrix, name)
    cosine = moved @ gradient / np.linalg.norm(moved) / np.linalg.norm(gradient)
    assert cosine > 0.98
    assert np.linalg.norm(moved) == pytest.approx(np.linalg.norm(gradient), rel=0.1)
    # A mean of 64 walks is near enough to its logarithm's mean.
    error = 5 * np.std(logs) / np.sqrt(len(logs)) + np.var(logs)
    assert np.mean(logs) == pytest.approx(
        objective(BASE, FULL, mean_length, matrix, values_of(name)), abs=error
    )


def test_edit_distances_and_rewards_by_hand():
    one, other = np.array([0, 1, 2, 3]), np.array([0, 2, 3, 3])
    assert features.edit_distance(one, other) == 2
    assert features.edit_distance(one[:0], other[:3]) == 3
    assert features.reward(0) == 1.0 and features.reward(1) == pytest.approx(np.exp(-2))


def test_the_trie_decoder_is_that_of_enumeration(chain):
    unary, step = chain[0].unary, chain[0].step
    powers = np.array([0.0, 1.0])
    sums = np.zeros((LENGTH, 5, 3))
    values = []
    for word in WORDS.words:
        keys = LAYOUT.encode(word)
        values.append(restart.lattice(KEYS, keys, len(keys), LENGTH, True, unary, step, sums))
    for k, power in enumerate(powers):
        best = int(np.argmax(np.array(values) + power * WORDS.log_frequency))
        for target in range(len(WORDS.words)):
            found = measure.exact(MODEL, GESTURES, np.array([target]), BASE, powers)
            assert found[0, k] == (target == best)
