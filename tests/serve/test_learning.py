"""The page learns from what is accepted, keeps it in the browser, and forgets when told to."""

from __future__ import annotations

import json

import numpy as np
import pytest

from doeblin.gestures import Decoder, Generator, Hand, Lexicon, Model

from .browsing import LAYOUT, clear, enter, shoot, swipe

_KEPT = "() => JSON.parse(localStorage.getItem('doeblin-hand'))"


def points(gesture):
    rows = zip(gesture.x.tolist(), gesture.y.tolist(), gesture.t.tolist(), strict=True)
    return [{"x": x, "y": y, "t": t} for x, y, t in rows]


def counts(page) -> dict[str, int] | None:
    kept = page.evaluate(_KEPT)
    return kept and kept["counts"]


def space(page) -> None:
    """Accepts the word that stands."""
    page.keyboard.press("Space")


def test_api_is_the_decoder_and_keeps_nothing(client):
    decoder = Decoder(Model.shipped(), Lexicon.embedded(10_000))
    maker, rng = Generator(LAYOUT, noise=1.2), np.random.default_rng(4)
    hand = None
    for word in ("hello", "world", "there"):
        gesture = maker.gesture(word, rng)
        body = {"points": points(gesture), "word": word, "hand": hand}
        answer = client.post("/api/adapt", json=body).json()
        assert answer["learned"]
        hand = answer["hand"]
        decoder = decoder.adapt([gesture])
    known = Hand.from_json(hand)
    assert known.counts == decoder.hand.counts == {"hello": 1, "world": 1, "there": 1}
    assert known.weight == pytest.approx(decoder.hand.weight)
    np.testing.assert_allclose(known.sums, decoder.hand.sums)
    gesture = maker.gesture("people", rng)
    body = {"points": points(gesture), "k": 3}
    with_hand = client.post("/api/decode", json={**body, "hand": hand}).json()["candidates"]
    without = client.post("/api/decode", json=body).json()["candidates"]
    expected = decoder.decode([gesture], top=3)[0]
    assert [c["word"] for c in with_hand] == [guess.word for guess in expected]
    np.testing.assert_allclose(
        [c["probability"] for c in with_hand], [guess.probability for guess in expected]
    )
    assert with_hand != without


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": -1.0}, "weight"),
        ({"weight": 1e6}, "must be in"),
        ({"sums": {"pace": 1.0}}, "sums of a hand"),
        ({"counts": {"a": 0}}, "at least 1"),
        ({"counts": {f"w{k}": 1 for k in range(501)}}, "at most 500"),
        ({"counts": {"x" * 100: 1}}, "characters"),
        ({"format": "other"}, "one of"),
        ({"more": 1}, "not something"),
    ],
)
def test_bad_hands_are_refused_in_one_line(client, change, message):
    body = {"points": points(clear("hello")), "hand": {**Hand().to_json(), **change}}
    answer = client.post("/api/decode", json=body)
    assert answer.status_code == 422
    text = answer.json()["error"]["message"]
    assert message in text and "\n" not in text and len(text) < 400


def test_page_learns_corrections_and_forgets(page):
    enter(page, "swipe")
    assert counts(page) is None and page.is_checked("#swipe-learn")
    swipe(page, clear("hello"))
    second = page.locator(".candidate .word").nth(1).text_content()
    assert counts(page) is None  # what merely stands is not accepted
    page.locator(".candidate").nth(1).click()
    sent = []
    page.on("request", lambda request: sent.append(request))
    space(page)
    page.wait_for_function("() => localStorage.getItem('doeblin-hand')")
    assert counts(page) == {second: 1}
    swipe(page, clear("world"))
    decoded = [json.loads(r.post_data) for r in sent if r.url.endswith("/api/decode")]
    assert decoded[-1]["hand"]["counts"] == {second: 1}
    space(page)
    page.wait_for_function(
        "() => Object.keys(JSON.parse(localStorage['doeblin-hand']).counts).length > 1"
    )
    shoot(page, "learning")
    page.reload()
    page.wait_for_selector("body[data-swipe=ready]")
    assert counts(page) == {second: 1, "world": 1}
    assert "2 words" in page.inner_text("#swipe-learned")
    page.click("#swipe-forget")
    assert counts(page) is None and page.is_disabled("#swipe-forget")


def test_switch_is_obeyed(page):
    enter(page, "swipe")
    page.uncheck("#swipe-learn")
    sent = []
    page.on("request", lambda request: sent.append(request))
    swipe(page, clear("hello"))
    space(page)
    swipe(page, clear("world"))
    assert counts(page) is None
    assert not [one for one in sent if one.url.endswith("/api/adapt")]
    assert all(json.loads(r.post_data)["hand"] is None for r in sent if "/api/decode" in r.url)
    page.reload()
    page.wait_for_selector("body[data-swipe=ready]")
    assert not page.is_checked("#swipe-learn")


@pytest.mark.thorough
def test_space_takes_the_word_whatever_was_pressed_before(page):
    enter(page, "swipe")
    for button in ("#swipe-clear", "#swipe-back", "#swipe-learn", "#swipe-learn"):
        page.click(button)
        assert swipe(page, clear("hello"))[0] == "hello"
        space(page)
        assert page.is_hidden(".candidate")
    assert page.inner_text("#swipe-text").split() == ["hello"] * 3  # one was deleted
    assert page.is_checked("#swipe-learn")


@pytest.mark.thorough
def test_what_one_tab_forgets_is_forgotten_in_all(page):
    enter(page, "swipe")
    swipe(page, clear("hello"))
    space(page)
    page.wait_for_selector("#swipe-forget:enabled")
    other = page.context.new_page()
    enter(other, "swipe")
    assert "from 1 word" in other.inner_text("#swipe-learned")
    other.click("#swipe-forget")
    page.bring_to_front()
    page.wait_for_selector("#swipe-forget:disabled")
    swipe(page, clear("world"))
    space(page)
    page.wait_for_selector("#swipe-forget:enabled")
    assert counts(page) == {"world": 1}
    other.bring_to_front()
    for wanted in (False, True):
        other.set_checked("#swipe-learn", wanted)
        page.wait_for_function(
            f"() => document.getElementById('swipe-learn').checked === {str(wanted).lower()}"
        )
    other.close()


OTHERS = [
    pytest.param('{"format":"doeblin-hand-2","weight":1,"sums":{},"counts":{"hello":3}}', id="new"),
    pytest.param(
        '{"format":"doeblin-hand-1","counts":{"hello":"x"}}', id="odd", marks=pytest.mark.thorough
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize("other", OTHERS)
def test_what_another_version_learned_is_put_aside_for_it(page, other):
    enter(page, "swipe")
    page.evaluate("text => localStorage.setItem('doeblin-hand', text)", other)
    page.reload()
    page.wait_for_selector("body[data-swipe=ready]")
    for words in ("Nothing learned yet", "Learned from 1 word"):
        assert words in page.inner_text("#swipe-learned")
        assert "put aside" in page.inner_text("#swipe-learned")
        assert page.evaluate("() => localStorage.getItem('doeblin-hand-unread')") == other
        assert swipe(page, clear("world"))[0] == "world"
        space(page)
        page.wait_for_function("() => localStorage.getItem('doeblin-hand')")
    page.click("#swipe-forget")
    assert page.evaluate("() => Object.keys(localStorage).join()") == ""


def test_what_was_put_aside_is_taken_back_by_who_can_read_it(page):
    own = json.dumps({**Hand().to_json(), "counts": {"hello": 2}})
    enter(page, "swipe")
    page.evaluate("text => localStorage.setItem('doeblin-hand-unread', text)", own)
    page.reload()
    page.wait_for_selector("body[data-swipe=ready]")
    assert "Learned from 2 words" in page.inner_text("#swipe-learned")
    assert page.evaluate("() => Object.keys(localStorage).join()") == "doeblin-hand"


MORE = ('{"counts":{"a":1.5}}', "0")


@pytest.mark.parametrize(
    "odd",
    [
        '{"counts":{"a":"hello"}}',
        "[1",
        *(pytest.param(n, marks=pytest.mark.thorough) for n in MORE),
    ],
)
def test_what_is_no_hand_is_not_counted(page, odd):
    enter(page, "swipe")
    page.evaluate("text => localStorage.setItem('doeblin-hand', text)", odd)
    page.reload()
    page.wait_for_selector("body[data-swipe=ready]")
    assert "Nothing learned yet" in page.inner_text("#swipe-learned")


@pytest.mark.thorough
def test_a_browser_without_room_keeps_what_it_had_and_says_so(page):
    enter(page, "swipe")
    swipe(page, clear("hello"))
    space(page)
    page.wait_for_function("() => localStorage.getItem('doeblin-hand')")
    page.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new Error('QuotaExceededError'); }; }"
    )
    swipe(page, clear("world"))
    space(page)
    learned = "document.getElementById('swipe-learned').textContent"
    page.wait_for_function(f"() => {learned}.includes('2 words, until you leave')")
    assert counts(page) == {"hello": 1}
    page.uncheck("#swipe-learn")
    assert "no room to keep your choice" in page.inner_text("#swipe-learned")
