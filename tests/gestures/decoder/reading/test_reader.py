"""The reader against sums over all ways to write a word, and against its network in plain loops."""

import dataclasses
import itertools

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator, Gesture, Layout
from doeblin.gestures.decoder import Decoder, Model
from doeblin.gestures.decoder.reading import FRAMES, LEAST, Reader, letters, seen, shapes, spread
from doeblin.gestures.decoder.reading._chances import log_chances
from doeblin.gestures.decoder.restart import Network, pack
from doeblin.gestures.decoder.words import FEATURES, Words

from .. import brute

PLANE = brute.LAYOUT.plane


def random_reader(seed=0, width=8, wide=6, blocks=2, basis=5):
    rng = np.random.default_rng(seed)
    made = {
        name: (0.5 * rng.normal(size=shape)).astype(np.float32)
        for name, shape in shapes(width, wide, blocks, basis).items()
    }
    return Reader(made | {"gain": np.array(0.4, np.float32)})


@pytest.fixture(scope="module")
def gestures():
    rng = np.random.default_rng(3)
    return [Generator(brute.LAYOUT).gesture(word, rng) for word in ("face", "abe", "ad")]


def by_enumeration(log_letters):
    """The chance of every string: all ways to fill the frames, repeats merged, nothings dropped."""
    frames, ends = log_letters.shape
    totals = {}
    for way in itertools.product(range(ends), repeat=frames):
        word = tuple(key for key, _ in itertools.groupby(way) if key != ends - 1)
        chance = np.exp(sum(log_letters[frame, key] for frame, key in enumerate(way)))
        totals[word] = totals.get(word, 0.0) + chance
    return totals


def random_letters(rng, *shape):
    scores = 3 * rng.normal(size=shape)
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


def padded(words, count):
    keys = np.zeros((count, len(words), max(map(len, words))), int)
    for k, word in enumerate(words):
        keys[:, k, : len(word)] = word
    return keys, np.tile([len(word) for word in words], (count, 1))


def test_chances_are_sums_over_all_ways_to_write_a_word():
    said = random_letters(np.random.default_rng(0), 3, 6, 4)
    words = [(0,), (2, 1), (1, 2, 1), (0, 1, 2, 0), (0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 0, 1, 2)]
    found = log_chances(said, *padded(words, 3))
    for trace in range(3):
        truth = by_enumeration(said[trace])
        assert sum(truth.values()) == pytest.approx(1)
        expected = [np.log(truth[word]) if word in truth else LEAST for word in words]
        np.testing.assert_allclose(found[trace], expected, atol=1e-10)
    assert found[0, -1] == LEAST, "seven letters do not go into six frames"


def test_unlikely_words_keep_their_order_down_to_the_least():
    said = np.full((1, FRAMES, 4), np.log(1e-12))
    said[..., 3] = np.log(1 - 3e-12)
    found = log_chances(said, *padded([(0,), (0, 1), (0, 1, 2), (0, 1, 2, 1, 2)], 1))[0]
    ways = [np.log(40.0), np.log(40 * 39 / 2), np.log(40 * 39 * 38 / 6)]
    np.testing.assert_allclose(found[:3], np.log(1e-12) * np.arange(1, 4) + ways, atol=1e-6)
    assert found[3] == LEAST


def test_training_and_decoding_give_a_word_one_chance():
    import jax

    from doeblin.gestures.decoder.training._reading import log_chances as in_jax

    said = random_letters(np.random.default_rng(1), 2, FRAMES, 6)
    keys, sizes = padded([(0,), (1, 0), (4, 2, 3, 0, 1, 2), tuple([0, 1] * 21)], 2)
    expected = log_chances(said, keys, sizes)
    np.testing.assert_allclose(jax.vmap(in_jax)(said, keys, sizes), expected, rtol=1e-4)
    assert (expected[:, -1] == LEAST).all()


def plain_letters(weights, frames, ways):
    """One trace, frame by frame and head by head."""

    def dense(name, values):
        return values @ weights[f"{name}.weight"].astype(float) + weights[f"{name}.bias"]

    def normal(values):
        return (values - values.mean()) / np.sqrt(values.var() + 1e-5)

    hidden = [dense("in", frame) for frame in frames]
    width = len(hidden[0])
    size = width // 4
    for block in range(2):
        asked = [dense(f"{block}.look", normal(one)) for one in hidden]
        heard = []
        for i in range(FRAMES):
            parts = []
            for head in range(4):
                own = slice(head * size, (head + 1) * size)
                scores = np.array(
                    [
                        asked[i][own] @ asked[j][width:][own] / np.sqrt(size)
                        + weights[f"{block}.apart"][head, i - j + FRAMES - 1]
                        for j in range(FRAMES)
                    ]
                )
                shares = np.exp(scores) / np.exp(scores).sum()
                parts.append(sum(shares[j] * asked[j][2 * width :][own] for j in range(FRAMES)))
            heard.append(hidden[i] + dense(f"{block}.tell", np.concatenate(parts)))
        hidden = [
            one + dense(f"{block}.back", np.maximum(dense(f"{block}.wide", normal(one)), 0))
            for one in heard
        ]
    rows = []
    for one, away in zip(hidden, ways, strict=True):
        mine = dense("key", normal(one))
        keys = [
            np.append(np.maximum(dense("way", way), 0), min(way @ way, 9.0)) @ mine for way in away
        ]
        scores = np.append(keys, dense("none", normal(one)))
        rows.append(scores - np.logaddexp.reduce(scores))
    return np.array(rows)


def test_the_network_is_that_of_plain_loops(gestures):
    reader = random_reader()
    found = reader.read(pack(gestures, brute.LAYOUT), PLANE)
    assert found.dtype == np.float32 and found.shape == (3, FRAMES, len(PLANE) + 1)
    for row, gesture in zip(found, gestures, strict=True):
        at = np.linspace(gesture.t[0], gesture.t[-1], FRAMES)
        x, y = (np.interp(at, gesture.t, part) for part in (gesture.x, gesture.y))
        places = np.stack([x, y * brute.LAYOUT.aspect], axis=1)
        seconds = np.array((gesture.t[-1] - gesture.t[0]) / 1000)
        frames, ways = seen(places, seconds, PLANE, np)
        np.testing.assert_allclose(ways, PLANE[None] - places[:, None])
        expected = plain_letters(reader.weights, frames, ways)
        np.testing.assert_allclose(row, expected, rtol=1e-3, atol=1e-3)


def test_what_is_seen_of_a_frame(gestures):
    rng = np.random.default_rng(2)
    places = PLANE.mean(axis=0) + rng.normal(size=(FRAMES, 2))
    places[7:9] = places[6]  # the finger rests
    frames, _ = seen(places, np.array(0.78), PLANE, np)
    for i in (0, 5, 7, 20, FRAMES - 1):
        before = places[i] - places[i - 1] if i else np.zeros(2)
        after = places[i + 1] - places[i] if i < FRAMES - 1 else np.zeros(2)
        velocity = np.clip((before + after) / 2 / (0.02 + 1e-3) / 10, -4, 4)
        size = np.linalg.norm(before) * np.linalg.norm(after) + 0.01
        nearest = sorted((PLANE - places[i]).tolist(), key=lambda way: way[0] ** 2 + way[1] ** 2)
        expected = [
            *velocity, np.log1p(3 * np.linalg.norm(velocity)), *(3 * before),
            before @ after / size, (before[0] * after[1] - before[1] * after[0]) / size,
            *np.clip(np.ravel(nearest[:3]), -3, 3), *((places[i] - PLANE.mean(axis=0)) / 3),
            np.log(0.88), i / (FRAMES - 1), i == 0, i == FRAMES - 1,
        ]  # fmt: skip
        np.testing.assert_allclose(frames[i], expected, rtol=1e-4, atol=1e-5)


def test_numpy_and_jax_read_the_same(gestures):
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(4)
    places = (PLANE.mean(axis=0) + rng.normal(size=(2, FRAMES, 2))).astype(np.float32)
    seconds, plane = np.array([0.5, 2.0], np.float32), PLANE.astype(np.float32)
    weights = random_reader().weights
    with jax.numpy_rank_promotion("allow"):
        one, other = (
            letters(weights, *seen(xp.asarray(places), xp.asarray(seconds), plane, xp), xp)
            for xp in (np, jnp)
        )
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_keys_are_known_by_where_they_are(gestures):
    """A keyboard elsewhere, or in another order of keys, is read alike."""
    reader, packed = random_reader(), pack(gestures, brute.LAYOUT)
    found = reader.read(packed, PLANE)
    moved = packed._replace(x=packed.x + 5, y=packed.y - 3)
    np.testing.assert_allclose(
        reader.read(moved, PLANE + np.array([5, -3])), found, rtol=1e-3, atol=1e-3
    )
    order = np.random.default_rng(0).permutation(len(PLANE))
    other = reader.read(packed, PLANE[order])
    np.testing.assert_allclose(other[..., :-1], found[..., order], rtol=1e-3, atol=1e-3)


def test_neither_rounding_nor_the_order_of_keys_decides_which_is_nearer():
    """Points on whole pixels are as far from one key as from another."""
    layout = Layout.qwerty()
    rng = np.random.default_rng(6)
    x, y = np.round(4 * rng.uniform(1, 9, 400)) / 4, np.round(4 * rng.uniform(0.5, 2.5, 400)) / 4
    t = np.arange(400.0) * 40 / 39
    packed = pack([Gesture.checked(x, y, t)], layout)
    squares = np.sort(((layout.plane - np.stack(packed[:2], axis=1)[:, None]) ** 2).sum(-1), axis=1)
    assert (np.diff(squares, axis=1)[:, :3] < 1e-12).any(axis=1).mean() > 0.1
    reader, order = random_reader(), rng.permutation(26)
    found = reader.read(packed, layout.plane)
    others = [
        reader.read(packed, layout.plane[order])[..., [*np.argsort(order), 26]],
        reader.read(packed._replace(x=packed.x * (1 + 1e-12)), layout.plane),
        reader.read(packed._replace(y=packed.y * (1 - 1e-12)), layout.plane),
        reader.read(
            packed._replace(x=packed.x + 100, y=packed.y + 50), layout.plane + np.array([100, 50])
        ),
    ]
    for other in others:
        np.testing.assert_allclose(other, found, atol=1e-4)


def test_many_traces_are_read_as_each_alone(gestures):
    reader = random_reader()
    many = [gestures[k % 3] for k in range(130)]
    found = reader.read(pack(many, brute.LAYOUT), PLANE)
    alone = reader.read(pack(gestures, brute.LAYOUT), PLANE)
    np.testing.assert_allclose(found, alone[np.arange(130) % 3], rtol=1e-4, atol=1e-4)
    assert reader.read(pack([], brute.LAYOUT), PLANE).shape == (0, FRAMES, len(PLANE) + 1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1, 2, 3])
def test_strange_traces_and_small_keyboards_have_numbers(size):
    strange = [
        Gesture.checked([2.3], [1.1], [0]),
        Gesture.checked([2.3, 5], [1.1, 0.4], [0, 0]),
        Gesture.checked([1e6, -1e6, 0], [1e6, 0, -1e6], [0, 1, 1e6]),
        Gesture.checked([0, 9] * 200, [0, 0] * 200, np.arange(400) / 1e6),
    ]
    said = random_reader().read(pack(strange, brute.LAYOUT), PLANE[:size])
    assert said.shape[-1] == size + 1 and np.isfinite(said).all()
    np.testing.assert_allclose(np.exp(said.astype(float)).sum(axis=-1), 1, rtol=1e-4)


def test_words_side_by_side_skip_candidates_that_are_not_there():
    words = Words(np.array([3, 1, 2, 0]), np.array([0, 2, 2, 4]), np.full(3, -1))
    keys, sizes = spread(words, np.array([[2, -1], [1, 0]]))
    np.testing.assert_array_equal(sizes, [[2, 0], [0, 2]])
    np.testing.assert_array_equal(keys, [[[2, 0], [0, 0]], [[0, 0], [3, 1]]])
    none = Words(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64))
    keys, sizes = spread(none, np.full((2, 3), -1))
    assert keys.shape == (2, 3, 1) and not sizes.any()


def test_models_with_a_reader_decode_and_survive_a_file(tmp_path, gestures):
    rng = np.random.default_rng(5)
    sizes = 2 * (len(FEATURES) + 3 + 1), 4, 1
    layers = tuple(
        (0.2 * rng.normal(size=shape), rng.normal(size=shape[0]))
        for shape in zip(sizes[1:], sizes[:-1], strict=True)
    )
    plain = Model.untrained(brute.LAYOUT)
    model = dataclasses.replace(
        plain, reader=random_reader(), word_network=Network(layers, rectified=True)
    )
    assert model.contextual
    model.save(tmp_path / "model.safetensors")
    again = Model.load(tmp_path / "model.safetensors")
    decoder = Decoder(again, brute.LEXICON, compiled=False)
    found = decoder.candidates(gestures, open_vocabulary=True)
    assert again.reader is not None
    read = again.reader.read(pack(gestures, brute.LAYOUT), PLANE).astype(float)
    laws = decoder.log_full(found)
    for row, ids in enumerate(found.ids):
        there = np.flatnonzero(ids >= 0)
        words = [decoder.word(number, found.spelled) for number in ids[there]]
        assert len(found.spelled) and ids.max() >= len(brute.LEXICON)
        merged = ["".join(letter for letter, _ in itertools.groupby(word)) for word in words]
        keys, lengths = padded([brute.LAYOUT.encode(word) for word in merged], 1)
        reading = 0.4 * log_chances(read[row : row + 1], keys, lengths)[0]
        np.testing.assert_allclose(found.reading[row, there, 0], reading, rtol=1e-5)
        parts = found.features[row, there], found.letters[row, there], reading[:, None]
        inputs = np.concatenate(parts, axis=1)
        scores = found.features[row, there] @ model.word_weights + reading
        chances = np.exp(scores - np.logaddexp.reduce(scores))
        inputs = np.hstack([inputs, np.tile(chances @ inputs, (len(inputs), 1))])
        (first, shift), (second, last) = layers
        scores = scores + (np.maximum(inputs @ first.T + shift, 0) @ second.T + last)[:, 0]
        np.testing.assert_allclose(
            laws[row, there], scores - np.logaddexp.reduce(scores), rtol=1e-4, atol=1e-4
        )
    with pytest.raises(InputError, match="where 18 and 1"):
        dataclasses.replace(model, word_network=Network(((np.zeros((1, 5)), np.zeros(1)),)))


@pytest.mark.parametrize(
    "change",
    [
        {"in.weight": np.zeros((3, 8), np.float32)},
        {"1.look.bias": np.zeros(5, np.float32)},
        {"0.apart": np.zeros((4, 7), np.float32)},
        {"key.weight": np.full((8, 6), np.nan, np.float32)},
        {"gain": np.zeros(2, np.float32)},
        {"gain": np.array(-1, np.float32)},
        {"gain": np.array(1e30, np.float32)},
        {"in.bias": np.full(8, 3e38, np.float32)},
        {"1.back.weight": np.full((6, 8), -2e6, np.float32)},
        {"more": np.zeros(2, np.float32)},
        {"7.apart": np.zeros((4, 79), np.float32)},
        {"none.bias": None},
        {"gain": None},
        {"0.wide.weight": None},
    ],
)
def test_damaged_readers_are_refused(change):
    weights = {**random_reader().weights, **change}
    with pytest.raises(InputError, match="reader"):
        Reader({name: value for name, value in weights.items() if value is not None})
    with pytest.raises(InputError, match="fit each other"):
        random_reader(width=6)
