"""An open vocabulary has the words of the list that a lexicon was cut from."""

import dataclasses

import numpy as np
import pytest

from doeblin.gestures.data import Generator, Lexicon
from doeblin.gestures.decoder import Decoder, Hand, Model, evaluate
from doeblin.gestures.decoder.training._openness import fit_openness


@pytest.fixture(scope="module")
def cut(model, lexicon):
    """A decoder that knows a third of its list."""
    return Decoder(model, lexicon.top(300))


@pytest.fixture(scope="module")
def traces(cut, lexicon):
    """Of known and of rarer words in turns."""
    rng, steady = np.random.default_rng(3), Generator(cut.layout, noise=0.3)
    known, rarer = (
        [word for word in lexicon.words[first:] if len(word) > 3][:12] for first in (100, 400)
    )
    words = [word for pair in zip(known, rarer, strict=True) for word in pair]
    return [steady.gesture(word, rng) for word in words]


def test_rarer_words_have_the_probabilities_that_the_whole_list_gives_them(cut, lexicon, traces):
    everything = Decoder(cut.model, lexicon)
    found = cut.decode(traces, top=6, open_vocabulary=True)
    for row, same in zip(
        found, everything.decode(traces, top=6, open_vocabulary=True), strict=True
    ):
        assert [guess[:2] for guess in row] == [guess[:2] for guess in same]
        assert all(guess.in_lexicon == (guess.word in cut.lexicon) for guess in row)
    right = [row[0].word == gesture.word for row, gesture in zip(found, traces, strict=True)]
    assert np.mean(right[1::2]) > 0.7  # of words that the closed vocabulary cannot give
    closed = cut.decode(traces, top=6)
    assert all(guess.in_lexicon for row in closed for guess in row)
    drawn = cut.decode(traces[:4], top=1, open_vocabulary=True, draws=200)
    assert [row[0].word for row in drawn] == [row[0].word for row in found[:4]]


def test_rarer_words_are_out_of_the_lexicon(cut, traces):
    report = evaluate(cut, traces, open_vocabulary=True)
    assert report["lexicon_size"] == 300 and report["out_of_vocabulary"]["words"] == 12
    assert report["out_of_vocabulary"]["top1"] > 70
    spelled = cut.spell(traces[1], top=3)
    assert spelled[0].word == traces[1].word and not any(guess.in_lexicon for guess in spelled)


def test_a_list_that_was_not_cut_is_all_there_is(model, lexicon):
    decoder = Decoder(model, lexicon)
    assert decoder.opened is decoder
    other = decoder.with_hand(Hand())
    assert other.opened is other


def test_another_hand_shares_the_list_and_has_its_own_words(cut, traces):
    gesture = next(trace for trace in traces if trace.word in cut.lexicon)
    before = cut.opened
    adapted = cut.adapt([gesture] * 8)
    assert adapted.opened is not before and adapted.opened.trie is before.trie
    assert adapted.opened.hand is adapted.hand and cut.opened is before
    at = cut.lexicon.index[gesture.word]
    assert adapted.opened.tree.log_frequency[at] > before.tree.log_frequency[at]


def test_what_the_list_has_is_not_spelled_anew(cut, traces):
    found = cut.opened.candidates(traces, open_vocabulary=True)
    assert not set(found.spelled.tolist()) & set(cut.lexicon.whole.words)


def test_openness_weighs_what_no_list_has(cut, traces):
    """Words of the longer list, though out of the lexicon, say nothing about spelled ones."""
    assert fit_openness(cut.opened, traces) == cut.model.openness
    silent = dataclasses.replace(cut.model, openness=-60.0)
    found = Decoder(silent, cut.lexicon).decode(traces, top=1, open_vocabulary=True)
    assert np.mean([row[0].word == g.word for row, g in zip(found, traces, strict=True)]) > 0.7


def test_the_embedded_list_is_opened_to_its_end():
    rng = np.random.default_rng(0)
    decoder = Decoder(Model.shipped(), Lexicon.embedded(500))
    gesture = Generator(decoder.layout, noise=0.3).gesture("brindle", rng)
    (guess,) = decoder.decode([gesture], top=1, open_vocabulary=True)[0]
    assert guess.word == "brindle" and not guess.in_lexicon
