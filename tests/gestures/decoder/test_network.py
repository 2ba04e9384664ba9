"""Neural potentials: one definition in numpy and JAX, with the trie's exact gradient."""

import dataclasses

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator
from doeblin.gestures.decoder import Decoder, Likelihood, Model, Plan, Settings, train
from doeblin.gestures.decoder._network import Network
from doeblin.gestures.decoder._neural import (
    exported,
    fit_word_network,
    make_network,
    outputs,
    train_network,
)
from doeblin.gestures.decoder._rows import NUM_INPUTS
from doeblin.gestures.decoder._weights import initial_weights

from . import brute

EXACT = Settings(rate=15, least_frames=5, most_frames=5, prune=0.0, prune_deep=0.0)


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


def test_the_gradient_by_the_networks_outputs(likelihood):
    weights, batch = initial_weights(), np.array([0, 8, 20])
    rows = likelihood.rows(batch)
    rng = np.random.default_rng(3)
    extra = 0.3 * rng.normal(size=(len(rows.inputs), 2))
    values, _, slopes = likelihood.with_extra(weights, batch, extra, *rows[1:])
    step = 1e-5
    for row in rng.choice(len(extra), 25, replace=False):
        for kind in range(2):
            shift = np.zeros_like(extra)
            shift[row, kind] = step
            up, down = (
                likelihood.with_extra(weights, batch, extra + sign * shift, *rows[1:])[0].sum()
                for sign in (1, -1)
            )
            assert slopes[row, kind] == pytest.approx((up - down) / (2 * step), abs=1e-7)
    zero = likelihood.with_extra(weights, batch, 0 * extra, *rows[1:])[0]
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


def test_the_words_network_is_that_of_its_likelihood():
    """Scores that no linear factor can give are found, from features on any scale."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(6000, 5, 2)) * [3.0, 0.1] + [1.0, -2.0]
    first, second = (features - [1.0, -2.0]).transpose(2, 0, 1) / np.array([[[3.0]], [[0.1]]])
    truth = 2.0 * np.abs(first) + second
    gold = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    valid, u = np.ones((6000, 5), bool), np.full((6000, 5), 0.2)
    weights = np.array([0.0, 10.0])
    network = fit_word_network(features, valid, u, gold, weights, 0.02, 0)

    def log_likelihood(scores):
        full = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        return np.log(0.02 * 0.2 + 0.98 * full[np.arange(6000), gold]).mean()

    linear, best = log_likelihood(features @ weights), log_likelihood(truth)
    found = log_likelihood(features @ weights + network(features)[..., 0])
    assert linear < best - 0.2 and found > best - 0.02


def test_an_interrupted_neural_training_ends_where_another_does(tmp_path):
    rng = np.random.default_rng(5)
    maker = Generator(brute.LAYOUT)
    made = [maker.gesture(word, rng) for word in brute.LEXICON.words for _ in range(40)]
    plan, options = Plan(passes=1, batch=32), {"settings": EXACT, "neural": True}
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
    assert calls[0] == 4 and not list(tmp_path.iterdir())
    np.testing.assert_array_equal(again.weights, whole.weights)
    for one, other in ((again.network, whole.network), (again.word_network, whole.word_network)):
        for (weight, bias), (same_weight, same_bias) in zip(one.layers, other.layers, strict=True):
            np.testing.assert_array_equal(weight, same_weight)
            np.testing.assert_array_equal(bias, same_bias)
    file = tmp_path / "model.safetensors"
    again.save(file)
    gesture = made[0]
    one, other = (
        Decoder(each, brute.LEXICON).decode([gesture], top=2)[0]
        for each in (again, Model.load(file))
    )
    assert one[0].word == other[0].word
    assert one[0].probability == pytest.approx(other[0].probability, abs=1e-4)
