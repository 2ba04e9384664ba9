"""The likelihood over the trie: its value by enumeration, its gradient by differences."""

import numpy as np
import pytest

from doeblin.gestures.data import Generator, Gesture
from doeblin.gestures.decoder import Likelihood, Settings
from doeblin.gestures.decoder.restart import Trace, merged_keys, no_extra, prepare
from doeblin.gestures.decoder.restart._weights import BLOCKS, NUM_WEIGHTS, initial_weights, split

from .. import brute

EXACT = Settings(rate=15, least_frames=5, most_frames=5, prune=0.0, prune_deep=0.0)
OUTLIERS = 0.02
WORDS = ["abe", "add", "face", "bed"]


@pytest.fixture(scope="module")
def gestures():
    rng = np.random.default_rng(2)
    made = Generator(brute.LAYOUT, noise=1.5)
    return [made.gesture(word, rng) for word in WORDS]


@pytest.fixture(scope="module")
def weights():
    return initial_weights() + 0.3 * np.random.default_rng(0).standard_normal(NUM_WEIGHTS)


def test_the_likelihood_is_that_of_enumeration(gestures, weights):
    likelihood = Likelihood(gestures, brute.LEXICON, brute.LAYOUT, EXACT, OUTLIERS)
    values, _ = likelihood(weights, np.arange(len(gestures)))
    prior, double = split(weights)["prior"][0], split(weights)["double"][0]
    for gesture, value in zip(gestures, values, strict=True):
        trace = Trace(gesture.x, gesture.y * brute.LAYOUT.aspect, gesture.t)
        restart = EXACT.restart(brute.LAYOUT, weights, np.empty((0, 0)))
        count, _, found, _ = prepare(trace, restart, no_extra(1))
        potentials = found._asdict()
        total = brute.LEXICON.frequencies.sum()
        frequencies = dict(zip(brute.LEXICON.words, brute.LEXICON.frequencies, strict=True))
        # A word that is not in the lexicon joins it with half the least frequency.
        frequencies.setdefault(gesture.word, brute.LEXICON.frequencies.min() / 2)
        scores = {}
        for word, frequency in frequencies.items():
            keys = merged_keys(brute.LAYOUT, word)
            scores[word] = (
                brute.mass(keys, potentials, count)
                * (frequency / total) ** prior
                * np.exp(double * (len(word) - len(keys)))
            )
        chance = scores[gesture.word] / sum(scores.values())
        expected = np.log((1 - OUTLIERS) * chance + OUTLIERS / len(brute.LEXICON))
        assert value == pytest.approx(expected, rel=1e-10)


def test_gradients_are_those_of_differences(gestures, weights):
    likelihood = Likelihood(gestures, brute.LEXICON, brute.LAYOUT, EXACT, OUTLIERS)
    every = np.arange(len(gestures))
    _, gradients = likelihood(weights, every)
    step = 1e-5
    touched = np.flatnonzero(np.abs(gradients).max(axis=0) > 1e-9)
    assert len(touched) > 60
    for name, block in BLOCKS.items():
        inside = (touched >= block.start) & (touched < block.start + np.prod(block.shape))
        assert inside.any(), f"no gradient for {name}"
    for weight in touched:
        shift = np.zeros(NUM_WEIGHTS)
        shift[weight] = step
        slope = (likelihood(weights + shift, every)[0] - likelihood(weights - shift, every)[0]) / (
            2 * step
        )
        np.testing.assert_allclose(gradients[:, weight], slope, rtol=1e-5, atol=1e-8)


def test_the_gradient_is_zero_where_no_weight_matters(gestures, weights):
    likelihood = Likelihood(gestures, brute.LEXICON, brute.LAYOUT, EXACT, OUTLIERS)
    _, gradients = likelihood(weights, np.array([0]))
    untouched = np.flatnonzero(gradients[0] == 0.0)
    shift = np.zeros(NUM_WEIGHTS)
    shift[untouched] = 0.5
    values = [likelihood(w, np.array([0]))[0][0] for w in (weights, weights + shift)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_a_gesture_that_cannot_be_its_word_pulls_at_nothing(weights):
    # Six merged letters do not fit into five frames: the word has no alignment.
    rng = np.random.default_rng(0)
    gesture = Generator(brute.LAYOUT).gesture("abcdef", rng)
    values, gradients = Likelihood([gesture], brute.LEXICON, brute.LAYOUT, EXACT, OUTLIERS)(
        weights, np.array([0])
    )
    assert values[0] == pytest.approx(np.log(OUTLIERS / len(brute.LEXICON)))
    assert (gradients == 0).all()


def test_a_tap_has_a_likelihood(weights):
    tap = Gesture.checked([0.5], [0.5], [0.0], word="a")
    values, gradients = Likelihood([tap], brute.LEXICON, brute.LAYOUT, EXACT, OUTLIERS)(
        weights, np.array([0])
    )
    assert np.isfinite(values).all() and np.isfinite(gradients).all()
