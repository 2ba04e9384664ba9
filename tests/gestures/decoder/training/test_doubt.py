"""The doubt that is fitted is the one by which words are missing."""

from dataclasses import replace

import numpy as np
import pytest

from doeblin.gestures.decoder import Decoder, Doubt, fit_doubt
from doeblin.gestures.decoder.training._doubt import _logistic


@pytest.mark.thorough
@pytest.mark.parametrize(
    "truth",
    [Doubt(1.3, -1.5, -0.2), pytest.param(Doubt(0.8, -0.5, -0.4), marks=pytest.mark.thorough)],
)
def test_a_doubt_is_found_again(model, lexicon, gestures, truth):
    """Words drawn by its own law: candidates, or one that no list has where none was drawn."""
    decoder = Decoder(model, lexicon)
    found = decoder.candidates(gestures, open_vocabulary=True)
    law = Decoder(replace(model, doubt=truth), lexicon).posterior(found, open_vocabulary=True)
    rng, meant = np.random.default_rng(0), []
    for row, gesture in enumerate(gestures):
        at = rng.choice(len(law[row]) + 1, p=np.append(law[row], 1 - law[row].sum()))
        word = decoder.word(found.ids[row, at], found.spelled) if at < len(law[row]) else "qqqq"
        meant.append(replace(gesture, word=word))
    fitted = fit_doubt(decoder, meant)
    assert fitted is not None and fitted.sharpness == pytest.approx(truth.sharpness, rel=0.25)
    missing, right = (one.missing(decoder.log_full(found)) for one in (fitted, truth))
    # Hundreds of words, two numbers: the rates agree to some five standard errors.
    share = right.mean()
    assert abs(missing.mean() - share) <= 5 * np.sqrt(share * (1 - share) / len(gestures))
    assert np.corrcoef(missing, right)[0, 1] > 0.98


def test_a_few_words_tell_nothing_of_it(model, lexicon, gestures):
    assert fit_doubt(Decoder(model, lexicon), gestures[:30]) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0])
def test_words_that_are_told_apart_without_fail_have_a_doubt_too(scale):
    """The likeliest numbers would be infinite; a long training must not end in an error."""
    odds = scale * np.random.default_rng(0).normal(size=400)
    for missing in (odds < np.quantile(odds, 0.1), odds > np.median(odds)):
        doubt = Doubt(1.0, *_logistic(odds, missing))
        chance = np.exp(-np.logaddexp(0.0, -(doubt.base + doubt.slope * odds)))
        assert chance[missing].mean() > chance[~missing].mean() + 0.05
