"""Learning one person: exact where it can be checked by hand, bounded where somebody lies."""

import dataclasses
import json
import math

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator, Gesture, Layout, Lexicon
from doeblin.gestures.decoder import (
    Decoder,
    Hand,
    Hands,
    Model,
    evaluate_adaptation,
    fit_hands,
    fit_sharpness,
)
from doeblin.gestures.decoder._hand import OBSERVED, observed

SIZE = len(OBSERVED)


def moved(gesture: Gesture, x: float, y: float, user: str) -> Gesture:
    return dataclasses.replace(gesture, x=gesture.x + x, y=gesture.y + y, user=user)


@pytest.fixture(scope="module")
def people(lexicon):
    """People who are off their keys, each in a way of their own."""
    rng, found = np.random.default_rng(8), []
    # No frequencies: common words would be right anyhow.
    rows = list(Generator(Layout.qwerty()).sample(lexicon, 40 * 45, seed=8, power=0.3))
    for user in range(40):
        x, y = rng.normal(0, [0.4, 0.25])
        found += [moved(one, x, y, f"u{user}") for one in rows[45 * user : 45 * user + 45]]
    return found


@pytest.fixture(scope="module")
def knowing(decoder, people, lexicon):
    hands = fit_hands(decoder, people[: 24 * 45])
    assert hands is not None
    model = dataclasses.replace(decoder.model, hands=hands)
    return Decoder(model, lexicon, compiled=True)  # one engine: equal to the last bit


def test_people_are_told_apart_by_what_they_differ_in(knowing):
    hands = knowing.model.hands
    share = dict(zip(OBSERVED, hands.share, strict=True))
    # Their offsets' variances by construction, beside the generator's own at touch-down.
    assert share["start_x"] == pytest.approx(0.4**2 / (0.4**2 + 0.26**2), abs=0.15)
    assert share["slant"] < 0.1 and share["start_x"] > share["end_x"] > share["stretch_x"]
    few = [Gesture.checked([0.5], [0.5], [0.0], word="a", user=f"u{k % 3}") for k in range(99)]
    assert fit_hands(knowing, few) is None


def test_adapting_helps_people_whom_nobody_has_seen(knowing, people):
    report = evaluate_adaptation(knowing, people[24 * 45 :], given=15)
    assert report["users"] == 16 and report["given"] == 15
    gain = report["log_likelihood"]
    # Without any gain, 12 or more of 16 are better off once in 26 times.
    assert gain["users_better"] >= 12 and report["top1"]["gain"] > 0 < gain["standard_error"]
    assert gain["after"] - gain["before"] == pytest.approx(gain["gain"])
    json.dumps(report)
    with pytest.raises(InputError, match="fewer than two users"):
        evaluate_adaptation(knowing, people[:100], given=90)


def test_score_is_that_of_the_definition(knowing, people):
    adapted = knowing.adapt(people[:12])
    hands, hand = adapted.model.hands, adapted.hand
    found = adapted.candidates(people[12:14])
    values = observed(found.features, found.shifts)
    gain = adapted.model.hands.scores(hand, found.features, found.shifts)
    for row, column in ((0, 0), (0, 3), (1, 1)):
        expected = 0.0
        for k in range(SIZE):
            known = hand.weight * hands.share[k]
            s = known / (known + 1 - hands.share[k])
            off, most = s * hand.sums[k] / hand.weight, 2.5 * math.sqrt(hands.share[k])
            m = hands.mean[k] + hands.spread[k] * min(max(off, -most), most)
            z = values[row, column, k]
            z = min(
                max(z, hands.mean[k] - 4 * hands.spread[k]), hands.mean[k] + 4 * hands.spread[k]
            )
            ratio = (z - m) ** 2 - (z - hands.mean[k]) ** 2
            expected += hands.weights[k] * s * ratio / hands.spread[k] ** 2
        assert gain[row, column] == pytest.approx(min(max(expected, -3.0), 3.0))


def test_nothing_known_changes_nothing_and_nothing_changes_in_place(knowing, people):
    before = knowing.decode(people[:20])
    assert knowing.adapt([]) is knowing
    adapted = knowing.adapt(people[20:40])
    assert knowing.hand == Hand() and knowing.decode(people[:20]) == before
    assert adapted.decode(people[:20]) != before
    assert adapted.with_hand(Hand()).decode(people[:20]) == before


def test_order_and_portions_do_not_matter(knowing, people):
    at_once = knowing.adapt(people[:9]).hand
    bit_by_bit = knowing
    for gesture in people[8::-1]:
        bit_by_bit = bit_by_bit.adapt([gesture])
    assert bit_by_bit.hand.counts == at_once.counts
    assert bit_by_bit.hand.weight == pytest.approx(at_once.weight)
    np.testing.assert_allclose(bit_by_bit.hand.sums, at_once.sums, atol=1e-9)


def first_right(decoder, gestures) -> float:
    answers = decoder.decode(gestures, top=1)
    return float(np.mean([a[0].word == g.word for a, g in zip(answers, gestures, strict=True)]))


def test_wrong_words_do_not_ruin_the_decoder(knowing, people):
    """All confirmed words are those of other gestures."""
    given, rest = people[:45], people[24 * 45 : 27 * 45]
    words = [gesture.word for gesture in given]
    wrong = [
        dataclasses.replace(g, word=w) for g, w in zip(given, words[7:] + words[:7], strict=True)
    ]
    adapted = knowing.adapt(wrong)
    assert adapted.hand.weight < 0.2 * len(wrong)
    assert first_right(adapted, rest) > first_right(knowing, rest) - 0.03
    # Someone who insists: every sum at its bound. What is said of a word is bounded, too.
    worst = Hand(500.0, tuple(1500.0 * (-1) ** k for k in range(SIZE)))
    found = knowing.candidates(rest)
    said = knowing.model.hands.scores(worst, found.features, found.shifts)
    assert np.abs(said).max() == 3.0
    plain, changed = knowing.log_full(found), knowing.with_hand(worst).log_full(found)
    known = np.isfinite(plain)
    assert np.abs(changed[known] - plain[known]).max() <= 6.0 + 1e-9


def test_one_word_a_thousand_times(knowing, people, lexicon):
    rest = people[24 * 45 : 26 * 45]
    gesture = next(one for one in people if lexicon.index[one.word] > 900)
    once, often = knowing.adapt([gesture]), knowing.adapt([gesture] * 1000)
    assert often.hand.counts == {gesture.word: 1000} and often.hand.weight <= 500
    number = lexicon.index[gesture.word]
    expected = 10_000 * math.exp(lexicon.log_frequencies[number])
    assert once.hand.gains(lexicon)[number] == pytest.approx(math.log1p(1 / expected))
    assert often.hand.gains(lexicon)[number] == 3.0
    assert first_right(often, rest) > first_right(knowing, rest) - 0.05
    seen = {}
    for name, one in (("none", knowing), ("once", once), ("often", often)):
        guesses = one.with_hand(dataclasses.replace(one.hand, weight=0.0, sums=(0.0,) * SIZE))
        found = {g.word: g.probability for g in guesses.decode([gesture], top=20)[0]}
        seen[name] = found[gesture.word]
    assert seen["none"] < seen["once"] < seen["often"]


def test_raised_words_are_not_pruned_away(decoder, lexicon):
    """The bound on frequencies below each node, against all words below it."""
    trie = decoder.trie
    raised = {5: -1.0, 400: -3.0, 999: 0.5}
    frequency = lexicon.log_frequencies.copy()
    for word, value in raised.items():
        frequency[word] = value
    best = np.full(trie.num_nodes, -np.inf)
    for node in range(trie.num_nodes):
        for word in trie.words[trie.first_word[node] : trie.first_word[node + 1]]:
            above = node
            while above >= 0:
                best[above] = max(best[above], frequency[word])
                above = trie.parent[above]
    np.testing.assert_allclose(trie.best_with(raised), best)


@pytest.mark.parametrize(
    ("gesture", "message"),
    [
        (Gesture.checked([1, 2], [0, 0], [0, 9]), "gesture 0 has no word"),
        (Gesture(np.array([np.nan]), np.array([0.0]), np.array([0.0]), "the"), "not finite"),
        (Gesture(np.array([1.0]), np.array([np.inf]), np.array([0.0]), "the"), "not finite"),
        (Gesture(np.empty(0), np.empty(0), np.empty(0), "the"), "empty"),
    ],
)
def test_what_cannot_be_learned_is_refused(knowing, gesture, message):
    with pytest.raises(InputError, match=message):
        knowing.adapt([gesture])


def test_words_outside_the_lexicon_teach_nothing(knowing):
    strange = Generator(Layout.qwerty()).gesture("zanolix", np.random.default_rng(0))
    assert knowing.adapt([strange]) is knowing


def test_a_model_without_hands_learns_words(decoder, people):
    adapted = decoder.adapt(people[:3])
    assert decoder.model.hands is None and adapted.hand.weight == 0
    assert sum(adapted.hand.counts.values()) == 3


def test_other_layouts(knowing):
    azerty = Layout.from_rows(["azertyuiop", "qsdfghjklm", "wxcvbn"], [0, 0, 1], name="azerty")
    decoder = Decoder(knowing.model, knowing.lexicon, layout=azerty)
    maker = list(Generator(azerty).sample(knowing.lexicon, 60, seed=3))
    adapted = decoder.adapt([moved(one, 0.4, 0.0, "") for one in maker[:30]])
    assert adapted.hand.sums[OBSERVED.index("start_x")] > 0
    assert first_right(adapted, [moved(one, 0.4, 0.0, "") for one in maker[30:]]) > 0.7


def test_hands_are_saved_and_loaded(knowing, people, tmp_path):
    hand = knowing.adapt(people[:10]).hand
    hand.save(tmp_path / "me.json")
    assert Hand.load(tmp_path / "me.json") == hand
    mine = Hand.load(tmp_path / "me.json")
    loaded = Decoder(knowing.model, knowing.lexicon, hand=mine, compiled=True)
    assert loaded.decode(people[:5]) == knowing.adapt(people[:10]).decode(people[:5])
    knowing.model.save(tmp_path / "model.safetensors")
    again = Model.load(tmp_path / "model.safetensors").hands
    assert again is not None
    np.testing.assert_allclose(again.weights, knowing.model.hands.weights, rtol=1e-6)
    with pytest.raises(InputError, match="finite numbers"):
        Hands(*(np.full(SIZE, np.nan),) * 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "not a hand"),
        ({"weight": float("nan")}, "weight = nan"),
        ({"weight": -1}, "weight = -1"),
        ({"weight": "1"}, "must be numbers"),
        ({"weight": 10**400}, r"weight of a hand = 100.*00 \(401 characters\) is too large"),
        ({"sums": {**dict.fromkeys(OBSERVED, 0), "slant": -(10**400)}}, "slant of a hand = -1000"),
        ({"counts": {"a": 10**400}}, r"'a' was confirmed .* \(401 characters\) times"),
        ({"zzz": 1}, "a hand has no field 'zzz', it has format, weight, sums, counts"),
        ({"sums": {}}, "the sums of a hand"),
        ({"sums": dict.fromkeys(OBSERVED, 1.0)}, "the sum of time_ratio is 1.0"),
        ({"counts": []}, "numbers by words"),
        ({"counts": {"a": 1.5}}, "not a count"),
        ({"counts": {"a": True}}, "not a count"),
        ({"counts": {"": 1}}, "not a word"),
        ({"counts": {str(k): 1 for k in range(501)}}, "at most 500"),
    ],
)
def test_damaged_hands_are_refused(tmp_path, change, message):
    path = tmp_path / "me.json"
    path.write_text(json.dumps({**Hand().to_json(), **change}))
    with pytest.raises(InputError, match=message) as caught:
        Hand.load(path)
    assert "me.json" in str(caught.value) and len(caught.value.message) < 300


@pytest.mark.parametrize("name", ["weight", "sums", "counts"])
def test_fields_that_are_missing_are_named(name):
    whole = Hand().to_json()
    del whole[name]
    with pytest.raises(InputError, match=f"no field '{name}'"):
        Hand.from_json(whole)


def test_files_that_are_no_json_are_refused(tmp_path):
    for text in ("", "{", "[" * 100_000, "[]", "3"):
        (tmp_path / "me.json").write_text(text)
        with pytest.raises(InputError):
            Hand.load(tmp_path / "me.json")


def test_much_is_kept_within_bounds():
    hand = Hand()
    for number in range(0, 1200, 100):
        words = [f"word{k}" for k in range(number, number + 100)]
        hand = hand.after([1.0] * 101, [[9.0] * SIZE] * 101, [*words, "often"])
    assert len(hand.counts) == 500 and hand.counts["often"] == 12 and "word1199" in hand.counts
    assert hand.weight == 500 and max(hand.sums) <= 1500 + 1e-6


def test_portions_do_not_matter_where_older_words_fade():
    rng = np.random.default_rng(0)
    weights, values = rng.random(1300), rng.normal(size=(1300, SIZE))
    words = [f"w{k}" for k in rng.integers(0, 700, 1300)]
    at_once = Hand().after(weights.tolist(), values.tolist(), words)
    assert at_once.weight == 500 and len(at_once.counts) == 500
    for portion in (1, 100, 901):
        hand = Hand()
        for at in range(0, 1300, portion):
            some = slice(at, at + portion)
            hand = hand.after(weights[some].tolist(), values[some].tolist(), words[some])
        assert hand.counts == at_once.counts and hand.weight == pytest.approx(500)
        np.testing.assert_allclose(hand.sums, at_once.sums, atol=1e-9)
    # The last words count most: those before the last 500 of weight e⁻¹ of what they did.
    turned = Hand().after([1.0] * 1000, [[-1.0] * SIZE] * 500 + [[1.0] * SIZE] * 500, ["a"] * 1000)
    assert turned.sums[0] == pytest.approx(500 * (1 - 2 / math.e), rel=0.01)


def test_sharpness_is_found_again(decoder, gestures):
    """A model made twice as sure is told to be half as sure."""
    known = [gesture for gesture in gestures[400:] if gesture.word in decoder.lexicon]
    plain = fit_sharpness(decoder, known)
    sure = Decoder(dataclasses.replace(decoder.model, sharpness=2.0), decoder.lexicon)
    assert fit_sharpness(sure, known) == pytest.approx(plain, rel=0.04)
    # First guesses are right as often as they say, one lexicon or two.
    few = Decoder(decoder.model, decoder.lexicon.top(len(decoder.lexicon) // 3))
    for more in ((), (few,)):
        sharpness = fit_sharpness(decoder, known, *more)
        fitted = dataclasses.replace(decoder.model, sharpness=sharpness)
        rows = []
        for lexicon in [one.lexicon for one in (decoder, *more)]:
            some = [gesture for gesture in known if gesture.word in lexicon]
            guesses = [row[0] for row in Decoder(fitted, lexicon).decode(some, top=1)]
            rows += [(g.probability, g.word == x.word) for g, x in zip(guesses, some, strict=True)]
        said, right = np.mean(rows, axis=0)
        assert said == pytest.approx(right, abs=0.004)
    with pytest.raises(InputError, match="too few"):
        fit_sharpness(decoder, known[:20])
    with pytest.raises(InputError, match="sharpness = 0"):
        dataclasses.replace(decoder.model, sharpness=0.0)


def test_lexicons_differ(knowing, people):
    """What was learned with one lexicon goes with another."""
    hand = knowing.adapt(people[:20]).hand
    small = Decoder(knowing.model, Lexicon.embedded(50), hand=hand)
    assert small.decode(people[:5])
