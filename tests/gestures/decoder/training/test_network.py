"""Neural potentials: one definition in numpy and JAX, with the trie's exact gradient."""

import dataclasses

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator
from doeblin.gestures.decoder import Decoder, Likelihood, Model, Plan, Settings, train
from doeblin.gestures.decoder._scores import letter_sums, with_context
from doeblin.gestures.decoder.reading import FRAMES, letters, seen
from doeblin.gestures.decoder.reading._chances import log_chances
from doeblin.gestures.decoder.restart import Extra, pack
from doeblin.gestures.decoder.restart._network import Network
from doeblin.gestures.decoder.restart._rows import NUM_INPUTS
from doeblin.gestures.decoder.restart._weights import initial_weights
from doeblin.gestures.decoder.training import _neural_words, _reading
from doeblin.gestures.decoder.training._copies import Copy, Strokes, Traces
from doeblin.gestures.decoder.training._factors import Judged
from doeblin.gestures.decoder.training._neural import exported, make_network, outputs, train_network
from doeblin.gestures.decoder.training._neural_words import fit_networks
from doeblin.gestures.decoder.words import stroke_rows
from doeblin.gestures.decoder.words._strokes import NUM_STROKE_INPUTS

from .. import brute

EXACT = Settings(rate=15, least_frames=5, most_frames=5, prune=0.0, prune_deep=0.0)


@pytest.fixture
def small_networks(monkeypatch):
    """A's networks as they are, but narrow, and in half the passes: quick on few data."""
    monkeypatch.setattr(_neural_words, "_PASSES", 18)
    monkeypatch.setattr(_neural_words, "_STROKE_WIDTH", 24)
    monkeypatch.setattr(_neural_words, "_BUCKET", 4096)
    for name, size in (("_WIDTH", 16), ("_WIDE", 16), ("_BLOCKS", 1), ("_BASIS", 8)):
        monkeypatch.setattr(_reading, name, size)


@pytest.fixture(scope="module")
def likelihood():
    rng = np.random.default_rng(2)
    maker = Generator(brute.LAYOUT, noise=1.5)
    words = [word for word in brute.LEXICON.words for _ in range(6)]
    made = [maker.gesture(word, rng) for word in words]
    return Likelihood(made, brute.LEXICON, brute.LAYOUT, EXACT, 0.02)


def test_numpy_and_jax_agree_on_the_network():
    rng = np.random.default_rng(0)
    network = make_network(0, width=8)
    inputs = rng.normal(size=(20, NUM_INPUTS))
    assert (np.asarray(outputs(network, inputs)) == 0).all()
    layers = tuple(
        (rng.normal(size=weight.shape), rng.normal(size=bias.shape))
        for weight, bias in exported(network).layers
    )
    import equinox as eqx

    network = eqx.tree_at(
        lambda net: [part for layer in net.layers for part in (layer.weight, layer.bias)],
        network,
        [part.astype(np.float32) for layer in layers for part in layer],
    )
    np.testing.assert_allclose(
        outputs(network, inputs), exported(network)(inputs), rtol=1e-4, atol=1e-4
    )


def test_weights_that_have_faded_away_are_left_out():
    """They would make decoding several times slower."""
    import equinox as eqx

    network = make_network(0, width=4, depth=1)
    faded = np.where(np.eye(4, NUM_INPUTS) > 0, 1e-39, 0.5).astype(np.float32)
    network = eqx.tree_at(lambda net: net.layers[0].weight, network, faded)
    weight, _ = exported(network).layers[0]
    np.testing.assert_array_equal(weight, np.where(np.eye(4, NUM_INPUTS) > 0, 0.0, 0.5))


def test_the_gradient_by_the_networks_outputs(likelihood):
    weights, batch = initial_weights(), np.array([0, 8, 20])
    rows = likelihood.rows(batch)
    rng = np.random.default_rng(3)
    extra = 0.3 * rng.normal(size=(len(rows.inputs), 2))

    def found(added):
        return likelihood.with_extra(weights, batch, Extra(added, *rows[1:]))

    values, _, slopes = found(extra)
    step = 1e-5
    for row in rng.choice(len(extra), 25, replace=False):
        for kind in range(2):
            shift = np.zeros_like(extra)
            shift[row, kind] = step
            up, down = (found(extra + sign * shift).values.sum() for sign in (1, -1))
            assert slopes[row, kind] == pytest.approx((up - down) / (2 * step), abs=1e-7)
    zero = found(0 * extra).values
    np.testing.assert_allclose(zero, likelihood(weights, batch)[0])
    assert not np.allclose(values, zero)


def test_the_network_learns_jointly(likelihood):
    seen = []
    weights, network = train_network(
        likelihood, initial_weights(), 42, Plan(passes=6, batch=14, step=0.1), seen.append
    )
    assert seen[-1].log_likelihood > seen[2].log_likelihood + 0.02
    assert np.abs(network.layers[-1][0]).max() > 0
    assert not np.array_equal(weights, initial_weights())


def test_models_with_networks_decode_and_survive_a_file(tmp_path):
    rng = np.random.default_rng(1)
    layers = ((0.1 * rng.normal(size=(4, NUM_INPUTS)), np.zeros(4)),)
    layers += ((0.5 * rng.normal(size=(2, 4)), np.zeros(2)),)
    plain = Model.untrained(brute.LAYOUT, EXACT)
    model = dataclasses.replace(plain, network=Network(layers))
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = Model.load(path)
    gesture = Generator(brute.LAYOUT).gesture("face", rng)
    one, other, none = (
        Decoder(each, brute.LEXICON).decode([gesture], top=3)[0] for each in (model, again, plain)
    )
    assert [guess.word for guess in one] == [guess.word for guess in other]
    assert one[0].probability == pytest.approx(other[0].probability, abs=1e-5)
    assert one[0].probability != pytest.approx(none[0].probability, abs=1e-6)
    with pytest.raises(InputError, match="4 outputs where"):
        dataclasses.replace(plain, network=Network((layers[0],)))
    with pytest.raises(InputError, match="where 17 and 1"):
        dataclasses.replace(plain, word_network=Network(layers))
    with pytest.raises(InputError, match="shape"):
        Network((layers[0], layers[0]))


def test_models_with_networks_of_strokes_decode_and_survive_a_file(tmp_path):
    rng = np.random.default_rng(7)
    plain = Model.untrained(brute.LAYOUT, EXACT)
    sizes = (NUM_STROKE_INPUTS, 6, 3)
    strokes = random_network(rng, sizes, 0.2)
    words = random_network(rng, (len(plain.factors) + 3, 5, 1), 0.2)
    model = dataclasses.replace(plain, word_network=words, stroke_network=strokes)
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = Model.load(path)
    assert again.stroke_network.rectified and again.word_network.rectified
    maker = Generator(brute.LAYOUT)
    gestures = [maker.gesture(word, rng) for word in ("face", "abe", "ad")]
    decoder = Decoder(model, brute.LEXICON)
    found = decoder.candidates(gestures)
    # A by hand: factors, the first sum, and what the network of words makes of it all.
    packed = pack(gestures, brute.LAYOUT)
    rows, owners = stroke_rows(packed, decoder.restart, decoder.words, found.ids, found.hits)
    for at in range(found.ids.size):
        row, k = divmod(at, found.ids.shape[1])
        said = by_hand(strokes, rows[owners == at]).sum(axis=0)
        np.testing.assert_allclose(found.strokes[row, k], said, atol=1e-4)
    inputs = np.concatenate([found.features, found.strokes], axis=-1)
    scores = found.features @ model.word_weights + found.strokes[..., 0]
    scores += by_hand(words, inputs)[..., 0]
    scores = np.where(found.ids >= 0, scores, -np.inf)
    expected = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(decoder.log_full(found), expected, atol=1e-9)
    for one, other in zip(
        decoder.decode(gestures), Decoder(again, brute.LEXICON).decode(gestures), strict=True
    ):
        assert [guess.word for guess in one] == [guess.word for guess in other]
        assert one[0].probability == pytest.approx(other[0].probability, abs=1e-4)
    with pytest.raises(InputError, match="where 20 and 1"):
        dataclasses.replace(model, word_network=random_network(rng, (17, 1), 0.1))
    with pytest.raises(InputError, match=f"where {NUM_STROKE_INPUTS} and 3"):
        dataclasses.replace(model, stroke_network=random_network(rng, (9, 3), 0.1))


def test_networks_of_words_see_letters_and_rivals(tmp_path):
    rng = np.random.default_rng(11)
    plain = Model.untrained(brute.LAYOUT, EXACT)
    model = dataclasses.replace(
        plain,
        stroke_network=random_network(rng, (NUM_STROKE_INPUTS, 6, 3), 0.2),
        word_network=random_network(rng, (2 * (len(plain.factors) + 3 + 3), 5, 1), 0.2),
    )
    assert model.contextual and not plain.contextual
    model.save(tmp_path / "model.safetensors")
    assert Model.load(tmp_path / "model.safetensors").contextual
    gestures = [Generator(brute.LAYOUT).gesture(word, rng) for word in ("face", "abe", "ad")]
    laws = []
    for compiled in (False, True):
        decoder = Decoder(model, brute.LEXICON, compiled=compiled)
        found = decoder.candidates(gestures, open_vocabulary=True)
        laws.append(decoder.log_full(found))
    np.testing.assert_allclose(laws[0], laws[1], atol=1e-6)
    # A by hand: candidate by candidate, and the mean over all that are there.
    for row, ids in enumerate(found.ids):
        there = ids >= 0
        parts = found.features[row], found.letters[row], found.strokes[row]
        seen = np.concatenate(parts, axis=1)[there]
        scores = seen[:, :17] @ model.word_weights + found.strokes[row, there, 0]
        chances = np.exp(scores) / np.exp(scores).sum()
        inputs = [np.concatenate([one, chances @ seen]) for one in seen]
        scores = scores + by_hand(model.word_network, np.array(inputs))[:, 0]
        expected = scores - np.logaddexp.reduce(scores)
        np.testing.assert_allclose(laws[1][row, there], expected, atol=1e-9)
        assert (laws[1][row, ~there] == -np.inf).all()
        assert ((found.letters[row, there, 2] == 1) == (ids[there] >= len(brute.LEXICON))).all()


def test_networks_see_the_factors_that_they_were_trained_with():
    rng = np.random.default_rng(9)
    plain = Model.untrained(brute.LAYOUT, EXACT)
    names = (*plain.factors, "own")
    model = dataclasses.replace(
        plain,
        factors=names,
        word_weights=np.append(plain.word_weights, 0.5),
        word_network=random_network(rng, (len(names), 4, 1), 0.3),
    )
    own = {"own": lambda gesture, words: [len(word) / 3 for word in words]}
    other = {"other": lambda gesture, words: [0.0 for _ in words]}
    gesture = Generator(brute.LAYOUT).gesture("fade", rng)
    laws = []
    for factors in (own, own | other, other | own):
        decoder = Decoder(model, brute.LEXICON, factors=factors)
        laws.append(decoder.log_full(decoder.candidates([gesture])))
    np.testing.assert_allclose(laws[1], laws[0])
    np.testing.assert_allclose(laws[2], laws[0])


def random_network(rng, sizes, spread):
    shapes = zip(sizes[1:], sizes[:-1], strict=True)
    return Network(
        tuple((spread * rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes),
        rectified=True,
    )


def by_hand(network, inputs):
    values = inputs.astype(float)
    for weight, bias in network.layers[:-1]:
        values = np.maximum(np.einsum("oi,...i->...o", weight, values) + bias, 0)
    weight, bias = network.layers[-1]
    return np.einsum("oi,...i->...o", weight, values) + bias


def test_a_network_is_computed_in_the_precision_of_its_inputs():
    rng = np.random.default_rng(8)
    for rectified in (False, True):
        network = dataclasses.replace(random_network(rng, (5, 7, 2), 0.5), rectified=rectified)
        inputs = rng.normal(size=(9, 5))
        exact, single = network(inputs), network(inputs.astype(np.float32))
        assert exact.dtype == np.float64 and single.dtype == np.float32
        np.testing.assert_allclose(single, exact, atol=1e-5)


def test_sums_over_letters_skip_candidates_that_are_not_there():
    network = Network(((np.ones((1, 2)), np.zeros(1)),))
    rows = np.array([[1.0, 2.0], [3.0, 0.0], [0.5, 0.5]])
    sums = letter_sums(network, rows, np.array([0, 0, 4]), (2, 3))
    np.testing.assert_array_equal(sums[..., 0], [[6, 0, 0], [0, 1, 0]])
    none = letter_sums(network, rows[:0], np.zeros(0, np.int64), (2, 3))
    np.testing.assert_array_equal(none, np.zeros((2, 3, 1)))


def test_rows_of_a_batch_are_those_of_its_gestures():
    starts = np.array([0, 3, 3, 8])
    rows = np.repeat(np.arange(8.0)[:, None], NUM_STROKE_INPUTS, axis=1)
    strokes = Strokes(rows, np.array([0, 0, 2, 0, 1, 1, 3, 3]), starts)
    where, owners = strokes.chosen(np.array([2, 1, 0]), 4, 4096)
    assert len(where) == 4096
    np.testing.assert_array_equal(where[:8], [3, 4, 5, 6, 7, 0, 1, 2])
    np.testing.assert_array_equal(owners[:8], [0, 1, 1, 3, 3, 8, 8, 10])
    assert (owners[8:] == 12).all()


@pytest.mark.thorough
def test_networks_of_words_are_those_of_their_likelihood(small_networks):
    """Scores that no linear factor can give are found, in factors on any scale, in strokes, and in
    traces, which pass the letters of one of two words."""
    rng = np.random.default_rng(4)
    count, keep = 6000, 5
    features = rng.normal(size=(count, keep, 2)) * [3.0, 0.1] + [1.0, -2.0]
    first, second = (features - [1.0, -2.0]).transpose(2, 0, 1) / np.array([[[3.0]], [[0.1]]])
    # Words of one to three letters, which count by the product of two numbers of their rows.
    sizes = rng.integers(1, 4, size=(count, keep))
    candidates = np.repeat(np.tile(np.arange(keep), count), sizes.ravel())
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    rows = np.zeros((len(candidates), NUM_STROKE_INPUTS), np.float16)
    rows[:, 3:5] = rng.normal(size=(len(candidates), 2))
    words = np.repeat(np.arange(count * keep), sizes.ravel())
    by_letters = np.bincount(words, np.prod(rows[:, 3:5].astype(float), axis=1), count * keep)
    truth = 2.0 * np.abs(first) + second + by_letters.reshape(count, keep)
    # Each candidate is another pair of keys in a row, and the trace rests on some of them.
    plane = np.stack([np.arange(keep + 1.0), np.zeros(keep + 1)], axis=1)
    keys = np.tile(np.stack([np.arange(keep), np.arange(1, keep + 1)], axis=1), (count, 1, 1))
    near = rng.integers(0, keep, size=count)
    share = np.repeat([0.0, 1.0], FRAMES // 2)
    places = np.zeros((count, FRAMES, 2), np.float32)
    places[..., 0] = near[:, None] + share + rng.normal(size=(count, FRAMES)) / 20
    truth += 2.0 * (near[:, None] == np.arange(keep))
    traces = Traces(places, np.ones(count, np.float32), keys, np.full((count, keep), 2))
    gold = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    valid, u = np.ones((count, keep), bool), np.full((count, keep), 0.2)
    weights, steps = np.array([0.0, 10.0]), []
    copy = Copy(Judged(features, valid, u, gold), Strokes(rows, candidates, starts), traces)
    by_word, by_stroke, reader = fit_networks(
        [copy], plane, weights, 0.02, 0, lambda *told: steps.append(told)
    )
    assert [step for step, _, _ in steps] == list(range(1, steps[0][1] + 1))

    def log_likelihood(scores):
        full = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        return np.log(0.02 * 0.2 + 0.98 * full[np.arange(count), gold]).mean()

    sums = letter_sums(by_stroke, rows.astype(float), words, (count, keep))
    frames = seen(places, np.ones(count, np.float32), plane.astype(np.float32), np)
    read = reader.weights["gain"] * log_chances(letters(reader.weights, *frames, np), *traces[2:])
    scores = features @ weights + sums[..., 0] + read
    inputs = with_context(np.concatenate([features, sums, read[..., None]], axis=-1), scores)
    found = scores + by_word(inputs)[..., 0]
    linear, best = log_likelihood(features @ weights), log_likelihood(truth)
    assert linear < best - 0.3 and log_likelihood(found) > best - 0.06
    assert steps[-1][2] > steps[0][2]


@pytest.mark.thorough
def test_an_interrupted_neural_training_ends_where_another_does(tmp_path, small_networks):
    rng = np.random.default_rng(5)
    maker = Generator(brute.LAYOUT)
    made = [maker.gesture(word, rng) for word in brute.LEXICON.words for _ in range(40)]
    plan, options = Plan(passes=1, batch=32), {"settings": EXACT, "neural": True}
    options["neural_restart"] = True
    whole = train(made, brute.LEXICON, layout=brute.LAYOUT, plan=plan, **options)
    each = len(made) // 32
    calls = []

    def stop(progress):
        calls.append(progress.step)
        if len(calls) == each + 4:
            raise KeyboardInterrupt

    path = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        train(
            made, brute.LEXICON, layout=brute.LAYOUT, plan=plan, checkpoint=path,
            checkpoint_steps=3, progress=stop, **options,
        )  # fmt: skip
    calls.clear()
    again = train(
        made, brute.LEXICON, layout=brute.LAYOUT, plan=plan, checkpoint=path,
        progress=lambda progress: calls.append(progress.step), **options,
    )  # fmt: skip
    assert calls[0] == 4 and len(list(tmp_path.iterdir())) == 2
    np.testing.assert_array_equal(again.weights, whole.weights)
    for name in ("network", "word_network", "stroke_network"):
        one, other = getattr(again, name), getattr(whole, name)
        for (weight, bias), (same_weight, same_bias) in zip(one.layers, other.layers, strict=True):
            np.testing.assert_array_equal(weight, same_weight)
            np.testing.assert_array_equal(bias, same_bias)
    for name, value in again.reader.weights.items():
        np.testing.assert_array_equal(value, whole.reader.weights[name])
    file = tmp_path / "model.safetensors"
    again.save(file)
    gesture = made[0]
    one, other = (
        Decoder(each, brute.LEXICON).decode([gesture], top=2)[0]
        for each in (again, Model.load(file))
    )
    assert one[0].word == other[0].word
    assert one[0].probability == pytest.approx(other[0].probability, abs=1e-4)
