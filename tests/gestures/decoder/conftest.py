"""A small decoder, trained once for all tests."""

import pytest

from doeblin.gestures.data import Generator, Layout, Lexicon
from doeblin.gestures.decoder import Decoder, Plan, train


@pytest.fixture(autouse=True)
def nothing_decoded(monkeypatch):
    """Which engine decodes must not depend on the tests before."""
    monkeypatch.setattr("doeblin.gestures.decoder._choice._decoded", 0)


@pytest.fixture(scope="session")
def lexicon():
    # A list of its own: an open vocabulary has no more than what is spelled.
    common = Lexicon.embedded(1000)
    return Lexicon(common.words, common.frequencies)


@pytest.fixture(scope="session")
def gestures():
    # Words from a larger lexicon, so that some are unknown to the decoder.
    return list(Generator(Layout.qwerty()).sample(Lexicon.embedded(3000), 900, seed=1))


@pytest.fixture(scope="session")
def model(gestures, lexicon):
    return train(gestures[:400], lexicon, plan=Plan(passes=2))


@pytest.fixture(scope="session")
def decoder(model, lexicon):
    return Decoder(model, lexicon)
