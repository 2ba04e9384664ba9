"""An open vocabulary does not have every word, and its probabilities leave room for that."""

from dataclasses import replace

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.decoder import Decoder, Doubt, Model

DOUBT = Doubt(sharpness=1.5, base=-1.0, slope=-0.8)


def test_what_is_left_by_hand():
    """Of 0.8 and 0.2: log-odds of log 4, so that 1 / (1 + e · 4^0.8) are missing."""
    log_full = np.log([[0.8, 0.2], [0.5, 0.5]])
    missing = [1 / (1 + np.e * 4**0.8), 1 / (1 + np.e)]
    np.testing.assert_allclose(DOUBT.missing(log_full), missing)
    sharper = np.array([[0.8**1.5, 0.2**1.5], [0.5, 0.5]])
    sharper /= sharper.sum(axis=1, keepdims=True)
    left = 1 - np.array(missing)[:, None]
    np.testing.assert_allclose(np.exp(DOUBT.after(log_full)), left * sharper)


def test_what_cannot_be_stays_so():
    log_full = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
    after = DOUBT.after(log_full)
    assert np.array_equal(np.isneginf(after), np.isneginf(log_full))
    assert 0.9 < np.exp(after[0, 0]) < 1 and DOUBT.missing(log_full)[1] > 0.99


@pytest.mark.parametrize(
    "numbers", [(0.0, 0, 0), (-1, 0, 0), (1, 51, 0), (1, 0, -51), (float("nan"), 0, 0)]
)
def test_senseless_doubts_are_refused(numbers):
    with pytest.raises(InputError, match="doubt = "):
        Doubt(*numbers)


@pytest.mark.parametrize("doubt", [DOUBT, None])
def test_a_file_keeps_it(model, doubt, tmp_path):
    path = tmp_path / "model.safetensors"
    replace(model, doubt=doubt).save(path)
    assert Model.load(path).doubt == doubt


def test_only_an_open_vocabulary_leaves_room(model, lexicon, gestures):
    few = gestures[:20]
    plain, doubting = Decoder(model, lexicon), Decoder(replace(model, doubt=DOUBT), lexicon)
    assert plain.decode(few) == doubting.decode(few)
    found = plain.opened.candidates(few, open_vocabulary=True)
    left = doubting.opened.posterior(found, open_vocabulary=True).sum(axis=1)
    missing = DOUBT.missing(plain.log_full(found))
    np.testing.assert_allclose(left, 1 - (1 - model.epsilon) * missing)
    for one, other, room in zip(
        *(each.decode(few, top=100, open_vocabulary=True) for each in (plain, doubting)),
        left,
        strict=True,
    ):
        assert {guess.word for guess in one} == {guess.word for guess in other}
        assert sum(guess.probability for guess in one) == pytest.approx(1)
        assert sum(guess.probability for guess in other) == pytest.approx(room)


def test_draws_leave_the_same_room(model, lexicon, gestures):
    decoder, some = Decoder(replace(model, doubt=DOUBT), lexicon), gestures[:20]
    exact, drawn = (
        decoder.decode(some, top=100, draws=draws, open_vocabulary=True) for draws in (None, 10_000)
    )
    left, share = (
        np.array([sum(g.probability for g in row) for row in rows]) for rows in (exact, drawn)
    )
    assert (np.abs(share - left) <= 5 * np.sqrt(left * (1 - left) / 10_000) + 1e-9).all()
    assert share.min() < 0.99


def test_certain_doubts_are_numbers():
    """At the ends of what a doubt may be, nothing is minus infinity that can be."""
    log_full = np.log([[0.9, 0.1]])
    for base in (-50.0, 50.0):
        after = Doubt(1.0, base, 0.0).after(log_full)
        assert np.isfinite(after).all() and np.exp(after).sum() <= 1
    assert np.exp(Doubt(1.0, 50.0, 0.0).after(log_full)).sum() == pytest.approx(np.exp(-50))
