import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doeblin import InputError
from doeblin.gestures.data import Gesture
from doeblin.gestures.decoder import (
    calibration_error,
    character_accuracy,
    edit_distance,
    evaluate,
)

WORDS = st.text("abc", max_size=6)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 2), ("same", "same", 0)],
)
def test_edit_distances_by_hand(a, b, distance):
    assert edit_distance(a, b) == distance


@given(WORDS, WORDS, WORDS)
def test_the_edit_distance_is_a_metric(a, b, c):
    assert edit_distance(a, b) == edit_distance(b, a)
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_character_accuracy_by_hand():
    assert character_accuracy("band", "banana") == 0.5
    assert character_accuracy("", "") == 1.0
    assert character_accuracy("", "abc") == 0.0


def test_calibration_by_hand():
    # One bin: sure of 0.9, right in 3 of 4; another: sure of 0.1, never right.
    confidence = np.array([0.9, 0.9, 0.9, 0.9, 0.1, 0.1])
    correct = np.array([1, 1, 1, 0, 0, 0], bool)
    expected = 4 / 6 * abs(0.9 - 0.75) + 2 / 6 * 0.1
    assert calibration_error(confidence, correct, bins=10) == pytest.approx(expected)


class Oracle:
    """A decoder whose answers are known."""

    lexicon = ("to", "the", "of")

    def decode(self, gestures, *, top=4, **options):
        from doeblin.gestures.decoder import Guess

        answers = {"to": ["to", "the"], "the": ["to", "of", "the"], "xyz": ["to"], "of": []}
        return [[Guess(word, 0.5) for word in answers[g.word]][:top] for g in gestures]


def test_accuracy_by_hand():
    gestures = [
        Gesture.checked([0], [0], [0], word=word, user=user)
        for user in ("ann", "bob")
        for word in ["to", "to", "the", "of", "xyz"]
    ]
    report = evaluate(Oracle(), gestures)  # pyright: ignore[reportArgumentType]
    assert report["all"]["words"] == 10 and report["in_vocabulary"]["words"] == 8
    assert report["all"]["top1"] == pytest.approx(40) and report["all"]["top4"] == pytest.approx(60)
    assert report["in_vocabulary"]["top1"] == pytest.approx(50)
    assert report["in_vocabulary"]["top4"] == pytest.approx(75)
    assert report["out_of_vocabulary"]["top4"] == 0
    assert report["by_length"]["2"]["words"] == 6 and report["ms_per_word"] >= 0
    # to: 1 each; the → to: one of three letters right; of → nothing.
    assert report["in_vocabulary"]["characters"] == pytest.approx(100 * (2 + 1 / 3) / 4)
    json.dumps(report)


def test_a_real_decoder_is_measured(decoder, gestures):
    report = evaluate(decoder, gestures[500:800])
    assert report["lexicon_size"] == 1000
    assert report["in_vocabulary"]["top1"] > 85
    assert report["in_vocabulary"]["calibration_error"] < 0.08
    assert report["users"]["count"] >= 5
    with pytest.raises(InputError, match="no gesture has a word"):
        evaluate(decoder, [Gesture.checked([0], [0], [0])])
