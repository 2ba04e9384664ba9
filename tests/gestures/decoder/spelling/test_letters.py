"""What a network of words sees of letters, against counts by hand."""

import itertools
import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest

from doeblin.gestures.data import Generator, Layout, Lexicon
from doeblin.gestures.decoder import Decoder, Model
from doeblin.gestures.decoder.restart import Spelling

LAYOUT = Layout.qwerty()
LEXICON = Lexicon.from_pairs(
    [("too", 9.0), ("to", 8.0), ("a", 5.0), ("été", 2.0), ("tot", 3.0), ("committee", 1.0)]
)


def merged(word):
    return [letter for letter, _ in itertools.groupby(word)]


def by_hand(words):
    """log P of a word's merged letters by trigrams that count each word once."""
    triples = Counter()
    for word in words:
        letters = ["", "", *merged(word), "."]
        triples.update(zip(letters, letters[1:], letters[2:], strict=False))
    keys = [*LAYOUT.letters, "."]

    def pair(last, key):
        def count(k):
            # "" is no key of its own: what begins and what ends have one number.
            if k == last or (k == "." and not last):
                return 0.0
            return 0.5 + sum(n for (_, b, c), n in triples.items() if b == last and c == k)

        return count(key) / sum(count(k) for k in keys)

    def log_chance(word):
        letters, total = ["", "", *merged(word), "."], 0.0
        for before, last, key in zip(letters, letters[1:], letters[2:], strict=False):
            after = sum(n for (a, b, _), n in triples.items() if (a, b) == (before, last))
            both = triples[before, last, key] + 10 * pair(last, key)
            total += math.log(both / (after + 10))
        return total

    return log_chance


def test_letters_of_known_and_unknown_words():
    decoder = Decoder(Model.untrained(LAYOUT), LEXICON)
    known = [word for word in LEXICON.words if LAYOUT.spells(word)]
    assert len(known) == len(LEXICON) - 1
    log_chance = by_hand(known)
    gestures = [
        Generator(LAYOUT).gesture(word, np.random.default_rng(seed))
        for seed, word in enumerate(("to", "committee", "at"))
    ]
    found = decoder.candidates(gestures, open_vocabulary=True, letters=True)
    seen = set()
    for row, k in np.argwhere(found.ids >= 0):
        word = decoder.word(found.ids[row, k], found.spelled)
        pairs, triples, outside = found.letters[row, k]
        assert outside == (word not in LEXICON)
        seen.add((word in LEXICON, len(merged(word)) < len(word)))
        if word == "committee":  # of two doubled letters the first one counts
            continue
        own = decoder.letters.log_weight(decoder.trie, word, Spelling(1.0, 0.0))
        assert pairs == pytest.approx(own, abs=1e-9)
        bigrams = decoder.letters.bigrams
        keys = [len(LAYOUT.letters), *LAYOUT.encode("".join(merged(word))), len(LAYOUT.letters)]
        single = sum(math.log(bigrams[a, b]) for a, b in itertools.pairwise(keys))
        assert triples == pytest.approx(log_chance(word) + own - single, abs=1e-9)
    assert len(seen) == 4
    assert (found.letters[found.ids < 0] == 0).all()
    # Who does not ask for them, and whose model does not look, has none.
    assert decoder.candidates(gestures[:1]).letters.shape[-1] == 0


def test_letters_of_a_layout_of_many_keys_take_no_room_for_what_nobody_writes():
    letters = [chr(0x4E00 + k) for k in range(600)]
    layout = Layout.from_rows(["".join(letters[k : k + 30]) for k in range(0, 600, 30)], [0] * 20)
    words = ["".join(letters[k : k + 3]) for k in range(0, 600, 3)]
    decoder = Decoder(Model.untrained(layout), Lexicon.from_pairs((word, 1.0) for word in words))
    tracemalloc.start()
    trigrams, table = decoder.lexicon_letters
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100e6 and table.shape == (200, 2) and np.isfinite(table).all()
    # Over all that may come next, chances add up to one, also after what nobody wrote.
    every = np.arange(601)
    for before, last in ((600, 0), (0, 1), (5, 77)):
        chances = trigrams.chances(np.full(601, before), np.full(601, last), every)
        assert chances.sum() == pytest.approx(1.0) and (chances[every != last] > 0).all()
