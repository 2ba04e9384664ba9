"""What the networks are trained on: gestures moved a little, and made-up ones elsewhere."""

import itertools

import numpy as np
import pytest

from doeblin.gestures.data import Layout
from doeblin.gestures.decoder.restart import merged_keys, pack
from doeblin.gestures.decoder.training._copies import make_copy, meant, moved, shuffled
from doeblin.gestures.decoder.words import stroke_rows


@pytest.mark.parametrize("opened", [False, True])
def test_a_copy_has_the_candidates_and_strokes_of_its_gestures(decoder, gestures, opened):
    few = gestures[400:700]
    (features, valid, u, gold), strokes, traces = make_copy(decoder, few, opened=opened)
    found = decoder.candidates(few, align=True, open_vocabulary=opened, letters=True)
    hits = meant(decoder, few, found)
    rows = np.flatnonzero(hits.any(axis=1))
    unknown = [row for row in rows if few[row].word not in decoder.lexicon]
    assert len(gold) == len(rows) and bool(unknown) == opened
    seen = np.concatenate([found.features[rows], found.letters[rows]], axis=-1)
    np.testing.assert_allclose(features, seen, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(valid, found.ids[rows] >= 0)
    np.testing.assert_allclose(u, np.exp(found.log_u[rows]))
    for at, row in enumerate(rows):
        assert decoder.word(found.ids[row, gold[at]], found.spelled) == few[row].word
        begin, end = strokes.starts[at : at + 2]
        keep = decoder.model.settings.keep
        words = [decoder.word(k, found.spelled) for k in found.ids[row] if k >= 0]
        sizes = [1 + sum(a != b for a, b in itertools.pairwise(w)) for w in words]
        owners = np.repeat(np.flatnonzero(found.ids[row] >= 0), sizes)
        np.testing.assert_array_equal(strokes.candidates[begin:end], owners)
        for k, word in zip(np.flatnonzero(found.ids[row] >= 0), words, strict=True):
            keys = merged_keys(decoder.layout, word)
            assert traces.keys[at, k, : traces.sizes[at, k]].tolist() == list(keys)
        ends = [[few[row].x[k], few[row].y[k] * decoder.layout.aspect] for k in (0, -1)]
        np.testing.assert_allclose(traces.places[at][[0, -1]], ends, rtol=1e-5, atol=1e-5)
        assert traces.seconds[at] == pytest.approx(np.ptp(few[row].t) / 1000, rel=1e-5)
        own, _ = stroke_rows(
            pack([few[row]], decoder.layout),
            decoder.restart,
            decoder.words,
            found.ids[row : row + 1, :keep],
            found.hits[row : row + 1, :keep],
        )
        np.testing.assert_allclose(
            strokes.rows[begin : begin + len(own)], own, rtol=2e-3, atol=2e-3
        )


def test_moved_gestures_stay_near_and_differ(gestures):
    rng, layout = np.random.default_rng(0), Layout.qwerty()
    gaps, paces = [], []
    for gesture in gestures[:300]:
        other = moved(gesture, layout, rng)
        assert other.word == gesture.word and (np.diff(other.t) >= 0).all()
        gaps.append(np.hypot(other.x - gesture.x, other.y - gesture.y).mean())
        paces.append(np.log(np.ptp(other.t) / np.ptp(gesture.t)))
    assert 0.05 < np.mean(gaps) < 0.3 and min(gaps) > 0
    assert np.std(paces) == pytest.approx(0.15, abs=0.03)


def test_a_shuffled_keyboard_has_the_same_keys_and_letters():
    layout = Layout.qwerty()
    other = shuffled(layout, np.random.default_rng(1))
    assert sorted(other.letters) == sorted(layout.letters) and other.letters != layout.letters
    np.testing.assert_array_equal(other.centres, layout.centres)
