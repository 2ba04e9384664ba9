import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from doeblin import InputError
from doeblin.gestures.data import Gesture, Layout
from doeblin.gestures.decoder import Decoder, Model, Plan, train
from doeblin.gestures.decoder.training._factors import Judged, fit_words, log_likelihood


def test_training_raises_the_likelihood(gestures, lexicon):
    seen = []
    train(gestures[:300], lexicon, plan=Plan(passes=3), progress=seen.append)
    steps = len(seen) // 3
    assert [report.step for report in seen] == list(range(1, 3 * steps + 1))
    assert seen[-1].log_likelihood > seen[steps - 1].log_likelihood


def test_an_interrupted_training_ends_where_another_does(gestures, lexicon, tmp_path):
    plan, few = Plan(passes=2), gestures[:160]
    whole = train(few, lexicon, plan=plan)

    class Enough(Exception):
        pass

    def stop(progress):
        if progress.step == 7:
            raise Enough

    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(Enough):
        train(few, lexicon, plan=plan, checkpoint=path, checkpoint_steps=3, progress=stop)
    assert path.exists()
    steps = []
    again = train(few, lexicon, plan=plan, checkpoint=path, progress=lambda p: steps.append(p.step))
    assert steps[0] == 7
    np.testing.assert_array_equal(again.weights, whole.weights)
    assert path.exists()


def test_a_checkpoint_of_another_training_is_refused(gestures, lexicon, tmp_path):
    path = tmp_path / "checkpoint.safetensors"

    def stop(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(gestures[:100], lexicon, checkpoint=path, checkpoint_steps=1, progress=stop)
    with pytest.raises(InputError, match=r"another training.*gestures = 100, not 101"):
        train(gestures[:101], lexicon, checkpoint=path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="digest does not match"):
        train(gestures[:100], lexicon, checkpoint=path)


def test_a_checkpoint_of_an_older_version_is_refused(gestures, lexicon, tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    header = {"doeblin": '{"format": "doeblin-gestures-checkpoint-2", "told": {}, "step": 1}'}
    save_file({"weights": np.zeros(3)}, str(path), header)
    with pytest.raises(InputError, match="no checkpoint, or one of an older version"):
        train(gestures[:100], lexicon, checkpoint=path)
    assert path.exists()
    with pytest.raises(InputError, match="it is not a regular file"):
        train(gestures[:100], lexicon, checkpoint=tmp_path)


def test_gestures_without_words_teach_nothing(lexicon):
    with pytest.raises(InputError, match="nothing to learn from"):
        train([Gesture.checked([1], [1], [0])], lexicon)
    for options in ({"passes": 0}, {"step": 0.0}, {"outliers": 0.0}):
        with pytest.raises(InputError):
            Plan(**options)


@pytest.mark.thorough
def test_own_factors_are_trained_and_asked_for(gestures, lexicon):
    def oracle(gesture, words):
        return [1.0 if word == gesture.word else 0.0 for word in words]

    model = train(gestures[:400], lexicon, plan=Plan(passes=1), factors={"oracle": oracle})
    assert model.factors[-1] == "oracle" and model.word_weights[-1] > 1
    with pytest.raises(InputError, match="oracle"):
        Decoder(model, lexicon)


def test_word_weights_have_the_gradient_of_their_likelihood():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 5, 3))
    valid = np.ones((30, 5), bool)
    valid[:10, 4] = False
    u = rng.dirichlet(np.ones(5), 30) * valid
    gold = rng.integers(0, 4, 30)
    weights, logit, step = rng.normal(size=3), -0.3, 1e-6
    judged = Judged(features, valid, u, gold)
    _, slope, by_logit = log_likelihood(weights, logit, judged)

    def value(w, a):
        return log_likelihood(w, a, judged)[0]

    for k in range(3):
        shift = step * np.eye(3)[k]
        numeric = (value(weights + shift, logit) - value(weights - shift, logit)) / (2 * step)
        assert slope[k] == pytest.approx(numeric, rel=1e-6)
    numeric = (value(weights, logit + step) - value(weights, logit - step)) / (2 * step)
    assert by_logit == pytest.approx(numeric, rel=1e-6)


def test_fitted_word_weights_find_the_truth():
    rng = np.random.default_rng(1)
    truth = np.array([2.0, -1.0, 0.0])
    features = rng.normal(size=(6000, 6, 3))
    scores = features @ truth + rng.gumbel(size=(6000, 6))
    u = np.full((6000, 6), 1 / 6)
    judged = Judged(features, np.ones((6000, 6), bool), u, scores.argmax(axis=1))
    fit = fit_words(judged, np.zeros(3))
    np.testing.assert_allclose(fit.weights, truth, atol=0.15)
    assert fit.epsilon < 0.06


def test_models_survive_a_file(model, tmp_path, lexicon, gestures):
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = Model.load(path)
    assert again.settings == model.settings and again.factors == model.factors
    np.testing.assert_allclose(again.weights, model.weights, atol=1e-5)
    words = [
        [row[0].word for row in Decoder(one, lexicon).decode(gestures[:50], top=1)]
        for one in (model, again)
    ]
    assert words[0] == words[1]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"format": "other"}, "not a gesture model"),
        ({"format": "doeblin-gestures-1"}, "has no field 'layout'"),
    ],
)
def test_files_that_are_no_models_are_refused(tmp_path, header, words):
    path = tmp_path / "model.safetensors"
    save_file({"weights": np.zeros(3, np.float32)}, str(path), {"doeblin": json.dumps(header)})
    with pytest.raises(InputError, match=words):
        Model.load(path)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Model.load(tmp_path / "absent")
    prose = tmp_path / "prose"
    prose.write_text("once upon a time")
    with pytest.raises(InputError, match="not a safetensors file"):
        Model.load(prose)
    with pytest.raises(InputError, match="finite weights"):
        Model(np.zeros(3), np.zeros(17), Layout.qwerty())


def test_a_type_that_numpy_may_not_have_is_an_error_of_the_file(tmp_path):
    """numpy has it where JAX was imported, and then the file is no model for another reason."""
    header = b'{"weights": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}'
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with pytest.raises(InputError, match=r"a type that numpy does not have|not a gesture model"):
        Model.load(path)
