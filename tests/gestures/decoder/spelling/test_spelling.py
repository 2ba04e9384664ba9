"""Words that no lexicon has."""

import numpy as np
import pytest

from doeblin.gestures.data import Generator, Lexicon
from doeblin.gestures.decoder.spelling._spelling import spellings

from ..masses import own_mass


def test_unknown_words_can_be_spelled(decoder):
    rng = np.random.default_rng(4)
    unknown = [w for w in Lexicon.embedded(4000).words[2000:] if len(w) in (4, 5)][:12]
    steady = Generator(decoder.layout, noise=0.3)
    traces = [steady.gesture(word, rng) for word in unknown]
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


def test_spellings_are_scored_by_mass_and_letters(decoder, gestures):
    gesture = gestures[2]
    for word, log_weight in spellings(decoder, gesture, 16)[:8]:
        letters = decoder.letters.log_weight(decoder.trie, word, decoder.model.spelling)
        expected = own_mass(decoder, gesture, word) + letters
        assert log_weight == pytest.approx(expected, abs=1e-9)
