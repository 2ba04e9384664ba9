"""The rows of strokes, against a plain account of each number in them."""

import numpy as np
import pytest

from doeblin.gestures.data import Gesture
from doeblin.gestures.decoder.restart import Packed, pack
from doeblin.gestures.decoder.restart._trie import merged_keys
from doeblin.gestures.decoder.words._strokes import NUM_STROKE_INPUTS, POINTS, stroke_rows


@pytest.fixture(scope="module")
def few(gestures):
    dot = Gesture.checked([3.0], [1.0], [0.0], word="to")
    return [*gestures[:6], dot]


@pytest.fixture(scope="module")
def found(decoder, few):
    return decoder.candidates(few, align=True)


@pytest.fixture(scope="module")
def strokes(decoder, few, found):
    packed = pack(few, decoder.layout)
    return stroke_rows(packed, decoder.restart, decoder.words, found.ids, found.hits)


def stroke(times, points, begin, end, key, direction, length, shares):
    """One side of a row: points, length and direction, time, path and greatest gap."""
    ux, uy = direction
    turn = np.array([[ux, uy], [-uy, ux]])
    numbers = []
    for share in shares:
        at = times[begin] + share * (times[end] - times[begin])
        place = np.array([np.interp(at, times, points[:, k]) for k in (0, 1)])
        along, across = turn @ (place - key)
        numbers += [np.clip(along, -6, 6) / 2, np.clip(across, -4, 4)]
    inside = points[begin : end + 1]
    path = np.linalg.norm(np.diff(inside, axis=0), axis=1).sum()
    gaps = np.abs((inside - key) @ turn[1])
    numbers += [length / 2 - 1, *(direction if length else (0.0, 0.0))]
    numbers += [np.log((times[end] - times[begin] + 0.02) / 0.2)]
    return [*numbers, np.log((path + 0.5) / (length + 0.5)), min(gaps.max(), 4)]


def reference(decoder, gesture, word, hits):
    """The rows of one word."""
    layout, settings = decoder.layout, decoder.model.settings
    keys, full = merged_keys(layout, word), layout.encode(word)
    twice = full[:-1][np.diff(full) == 0]
    seconds = (gesture.t[-1] - gesture.t[0]) / 1000
    frames = int(np.clip(int(seconds * settings.rate + 0.5) + 1, *_frame_bounds(settings)))
    times = np.linspace(0, max(seconds, 1e-3), 4 * (frames - 1) + 1)
    own = (gesture.t - gesture.t[0]) / 1000
    given = np.stack([gesture.x, gesture.y * layout.aspect], axis=1)
    points = np.stack([np.interp(times, own, given[:, k]) for k in (0, 1)], axis=1)
    plane = layout.plane[keys]
    samples = []
    for hit, key in zip(hits, plane, strict=False):
        window = np.arange(max(4 * hit - 2, 0), min(4 * hit + 2, len(points) - 1) + 1)
        nearest = window[np.argmin(np.linalg.norm(points[window] - key, axis=1))]
        samples.append(max([nearest, *samples]))
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    rows = []
    for j, (key, at) in enumerate(zip(plane, samples, strict=True)):
        row = []
        for other, begin, end in (
            (j - 1, samples[j - 1] if j else 0, at),
            (j + 1, at, samples[j + 1] if j + 1 < len(keys) else len(points) - 1),
        ):
            way = plane[other] - key if 0 <= other < len(keys) else np.zeros(2)
            length = np.linalg.norm(way)
            direction = way / length if length else np.array([1.0, 0.0])
            shares = np.arange(POINTS) / POINTS
            if other > j:
                shares = shares + 1 / POINTS
            row += stroke(times, points, begin, end, key, direction, length, shares)
        before, after = max(at - 3, 0), min(at + 3, len(points) - 1)
        come, go = points[at] - points[before], points[after] - points[at]
        scale = np.linalg.norm(come) * np.linalg.norm(go) + 0.01
        speed = steps[before:after].sum() / (times[after] - times[before])
        mean = max(steps.sum() / times[-1], 1e-6)
        near = np.linalg.norm(points - key, axis=1) < 0.7
        last = next((s for s in range(at + 1, len(points)) if not near[s]), len(points))
        first = next((s for s in range(at, 0, -1) if not near[s]), 0)
        spent = (last - 1 - first) * times[1]
        row += [*np.clip(points[at] - key, -3, 3), come @ go / scale]
        row += [(come[0] * go[1] - come[1] * go[0]) / scale]
        row += [np.log(speed + 1) / 2 - 0.5, min(speed / mean, 3) - 1]
        row += [np.log((spent + 0.02) / 0.1), j == 0, j == len(keys) - 1]
        row += [len(twice) > 0 and keys[j] == twice[0]]
        middle = layout.plane.mean(axis=0)
        row += [(key[0] - middle[0]) / 5, key[1] - middle[1], len(keys) / 5 - 1, j / len(keys)]
        rows.append(row)
    return np.array(rows, float)


def _frame_bounds(settings):
    return settings.least_frames, settings.most_frames


def test_rows_are_what_they_are_said_to_be(decoder, few, found, strokes):
    rows, owners = strokes
    assert rows.shape[1] == NUM_STROKE_INPUTS and np.isfinite(rows).all()
    keep = found.ids.shape[1]
    seen = set()
    for row, gesture in enumerate(few):
        for k in range(0, keep, 5):
            word = found.ids[row, k]
            if word < 0:
                continue
            expected = reference(decoder, gesture, decoder.lexicon.words[word], found.hits[row, k])
            got = rows[owners == row * keep + k]
            np.testing.assert_allclose(got, expected, atol=2e-4, err_msg=gesture.word)
            seen.add(len(expected))
    assert len(seen) > 3


def test_hits_are_in_order_and_within_the_trace(decoder, found):
    for ids, hits in zip(found.ids, found.hits, strict=True):
        for word, frames in zip(ids, hits, strict=True):
            size = len(merged_keys(decoder.layout, decoder.lexicon.words[word])) if word >= 0 else 0
            assert (frames[:size] >= 0).all() and (np.diff(frames[:size]) > 0).all()
            assert (frames[size:] == -1).all()


def test_a_keyboard_elsewhere_has_the_same_strokes(decoder, few, found, strokes):
    """Keys are known by geometry: what is moved along with the keyboard stays as it is."""
    packed = pack(few, decoder.layout)
    elsewhere = decoder.restart._replace(plane=decoder.layout.plane + np.array([2.0, -1.0]))
    moved = Packed(packed.x + 2.0, packed.y - 1.0, packed.t + 500.0, packed.starts)
    rows, owners = stroke_rows(moved, elsewhere, decoder.words, found.ids, found.hits)
    np.testing.assert_allclose(rows, strokes[0], atol=1e-4)
    np.testing.assert_array_equal(owners, strokes[1])
