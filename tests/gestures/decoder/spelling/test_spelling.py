"""Words that no lexicon has."""

import dataclasses
import itertools

import numpy as np
import pytest

from doeblin.gestures.data import Generator, Lexicon
from doeblin.gestures.decoder import Decoder, Settings
from doeblin.gestures.decoder.restart import DOUBLE, PRIOR, Spelling, pack
from doeblin.gestures.decoder.spelling._spelling import spellings
from doeblin.gestures.decoder.training._openness import fit_openness

from ..masses import own_mass

EXACT = Settings(prune=0.0, prune_deep=0.0)
PLAIN = Spelling(1.0, 0.0)


@pytest.fixture(scope="module")
def traces(decoder):
    rng = np.random.default_rng(4)
    unknown = [w for w in Lexicon.embedded(4000).words[2000:] if len(w) in (4, 5)][:12]
    steady = Generator(decoder.layout, noise=0.3)
    return [steady.gesture(word, rng) for word in unknown]


def test_unknown_words_can_be_spelled(decoder, traces):
    found = 0
    for gesture in traces:
        spelled = decoder.spell(gesture, top=10)
        assert all(not guess.in_lexicon and guess.word not in decoder.lexicon for guess in spelled)
        assert 0 < sum(guess.probability for guess in spelled) <= 1 + 1e-9
        found += gesture.word in [guess.word for guess in spelled]
    assert found >= 6
    gesture = max(traces, key=lambda trace: decoder.spell(trace, top=1)[0].probability)
    word = decoder.spell(gesture, top=1)[0].word
    closed, opened = (
        decoder.decode([gesture], top=5, open_vocabulary=choice)[0] for choice in (False, True)
    )
    assert word not in [guess.word for guess in closed]
    assert word in [guess.word for guess in opened]
    assert sum(guess.probability for guess in opened) <= 1 + 1e-9


def test_spelled_words_are_judged_as_words_of_a_lexicon_are(model, lexicon, gestures):
    """A lexicon that has the spelled words, with their frequencies, gives the same features."""
    decoder = Decoder(model, lexicon)
    few = gestures[:4]
    found = decoder.candidates(few, align=True, open_vocabulary=True)
    size, keep = len(lexicon), model.settings.keep
    prior, double = (decoder.restart.weights[k] for k in (PRIOR, DOUBLE))
    packed = pack(few, decoder.layout)
    alone = spellings(decoder, packed)
    assert sorted(alone.texts) == sorted(found.spelled.tolist())
    assert not any(text in lexicon for text in alone.texts)
    for row, gesture in enumerate(few):
        texts = [decoder.word(k, found.spelled) for k in found.ids[row, keep:] if k >= 0]
        assert len(set(texts)) == len(texts) > 0
        for k, text in enumerate(texts):
            letters = decoder.letters.log_weight(decoder.trie, text, PLAIN)
            frequency = model.openness + letters
            twice = sum(a == b for a, b in itertools.pairwise(text))
            mass = own_mass(decoder, gesture, text)
            features = found.features[row, keep + k]
            assert features[1] == pytest.approx(frequency, abs=1e-9)
            assert features[2] == twice
            score = mass + prior * frequency + double * twice
            assert alone.found.scores[row, k] == pytest.approx(score, abs=1e-9)
        # What does not depend on frequencies is the same where a lexicon has the words.
        own = Lexicon.from_pairs([(text, 1.0) for text in texts])
        other = Decoder(dataclasses.replace(model, settings=EXACT), own).candidates(
            [gesture], align=True
        )
        for k, text in enumerate(texts):
            at = other.ids[0].tolist().index(own.index[text])
            one, same = found.features[row, keep + k], other.features[0, at]
            np.testing.assert_allclose(one[2:], same[2:], atol=1e-9)
            count = (found.hits[row, keep + k] >= 0).sum()
            np.testing.assert_array_equal(
                found.hits[row, keep + k, :count], other.hits[0, at, :count]
            )
    assert (found.ids[:, keep:] >= size).any() and (found.ids[:, :keep] < size).all()
    np.testing.assert_allclose(np.exp(found.log_u).sum(axis=1), 1.0)


@pytest.mark.thorough
def test_openness_is_that_under_which_the_words_are_likeliest(decoder, gestures):
    few = gestures[400:700]
    best = fit_openness(decoder, few)

    def likelihood(openness):
        opened = Decoder(dataclasses.replace(decoder.model, openness=openness), decoder.lexicon)
        guesses = opened.decode(few, top=40, open_vocabulary=True)
        chances = [
            sum(guess.probability for guess in row if guess.word == gesture.word)
            for row, gesture in zip(guesses, few, strict=True)
        ]
        return np.log(np.maximum(chances, 1e-6)).mean()

    assert likelihood(best) > likelihood(best - 3) and likelihood(best) > likelihood(best + 3)
    known = [gesture for gesture in few if gesture.word in decoder.lexicon]
    assert fit_openness(decoder, known) == decoder.model.openness
