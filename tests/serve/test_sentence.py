"""Every swipe keeps its place in the text, however late its answer comes; and so does the text."""

from __future__ import annotations

from .browsing import LAYOUT, clear, draw, enter, finger, touch
from .test_learning import counts
from .test_phone import board, tap_space, texts

WORDS = ["hello", "world", "there", "good"]


def hold(page, path: str) -> list:
    """Requests that wait until their test lets them go on."""
    held: list = []
    page.route(f"**{path}", lambda route: held.append(route))
    return held


def until(page, held: list, number: int) -> None:
    while len(held) < number:
        page.wait_for_timeout(10)


def strokes(page, pairs: list[str]) -> None:
    """Straight lines from key to key, as fast as they can be drawn."""
    at, box = finger(page), board(page)
    key = box["width"] / LAYOUT.width
    for pair in pairs:
        ends = [LAYOUT.centre(letter) * (key, key * LAYOUT.aspect) for letter in pair]
        at("Start", box["x"] + ends[0][0], box["y"] + ends[0][1])
        at("Move", box["x"] + ends[1][0], box["y"] + ends[1][1])
        at("End")


def guess(*words: str) -> dict:
    return {"candidates": [{"word": word, "probability": 0.5} for word in words]}


def test_no_pause_and_answers_late_and_reversed(phone):
    """All words are there in their order, are learned in it, and are unlearned from the end."""
    held = hold(phone, "/api/decode")
    enter(phone, "swipe")
    for word in WORDS:
        draw(phone, clear(word))
    until(phone, held, len(WORDS))
    assert texts(phone) == ["…"] * len(WORDS)
    for route in reversed(held):
        route.continue_()
    phone.wait_for_function("() => !document.querySelector('.awaited')")
    assert texts(phone) == WORDS
    assert phone.locator(".maybe").all_text_contents() == WORDS[-1:]
    assert phone.locator(".candidate .word").first.text_content() == WORDS[-1]
    phone.wait_for_function("() => JSON.parse(localStorage['doeblin-hand'] ?? null)?.counts.there")
    assert counts(phone) == dict.fromkeys(WORDS[:3], 1)  # the last one merely stands
    for left in (WORDS[:3], WORDS[:2], WORDS[:1]):
        phone.tap("#swipe-back")
        assert texts(phone) == left and counts(phone) == dict.fromkeys(left, 1)
    phone.tap("#swipe-back")
    assert counts(phone) is None


def test_each_answer_is_for_its_own_swipe(phone):
    """Nothing fits one of them, one is deleted, one taken by the space bar: the others stay."""
    decoded, adapted = hold(phone, "/api/decode"), hold(phone, "/api/adapt")
    enter(phone, "swipe")
    strokes(phone, ["qp", "al", "zm"])
    until(phone, decoded, 3)
    decoded[2].fulfill(json=guess("gamma", "delta"))
    phone.wait_for_selector(".candidate")
    assert texts(phone) == ["…", "…", "gamma"]
    phone.locator(".candidate").nth(1).tap()
    decoded[0].fulfill(json=guess())
    phone.wait_for_selector("#swipe-problem:not([hidden])")
    assert "An earlier swipe is lost" in phone.inner_text("#swipe-problem")
    phone.locator(".candidate").first.tap()  # what is said is not in the way
    phone.locator(".candidate").nth(1).tap()
    assert texts(phone) == ["…", "delta"] and not adapted
    tap_space(phone)
    assert phone.is_hidden("#swipe-problem")
    decoded[1].fulfill(json=guess("beta"))
    until(phone, adapted, 1)
    strokes(phone, ["pq", "la"])
    until(phone, decoded, 5)
    phone.click("#swipe-back")  # Chromium takes no tap so soon after such strokes
    tap_space(phone)  # before the answer
    assert texts(phone) == ["beta", "delta", "…"]
    decoded[3].fulfill(json=guess("alpha"))
    hand = {"format": "doeblin-hand-1", "weight": 1.0, "sums": {}, "counts": {}}
    for number in (1, 2, 3):
        until(phone, adapted, number)
        hand = {**hand, "counts": {**hand["counts"], str(number): 1}}
        adapted[-1].fulfill(json={"hand": hand, "learned": True})
    assert texts(phone) == ["beta", "delta", "alpha"]
    sent = [route.request.post_data_json for route in adapted]
    swiped = [route.request.post_data_json["points"] for route in decoded]
    pairs = [("beta", swiped[1]), ("delta", swiped[2]), ("alpha", swiped[3])]
    assert [(one["word"], one["points"]) for one in sent] == pairs


def test_text_outlives_the_page_until_it_is_forgotten(phone):
    enter(phone, "swipe")
    phone.route("**/api/decode", lambda route: route.fulfill(json=guess("hello")))
    for _ in range(2):
        strokes(phone, ["ho"])
        phone.wait_for_selector(".candidate")
    phone.wait_for_function("() => localStorage['doeblin-hand']")
    phone.reload()
    phone.wait_for_selector("body[data-swipe=ready]")
    assert texts(phone) == ["hello", "hello"] and phone.locator(".candidate").count() == 0
    phone.tap("#swipe-back")
    phone.tap("#swipe-forget")
    assert texts(phone) == ["hello"]  # in view until the page is left
    phone.reload()
    phone.wait_for_selector("body[data-swipe=ready]")
    assert "appear here" in phone.inner_text("#swipe-text")
    assert phone.evaluate("localStorage.length + sessionStorage.length") == 0


def test_what_is_on_its_way_when_learning_is_switched_off_is_not_learned(phone):
    adapted = hold(phone, "/api/adapt")
    enter(phone, "swipe")
    touch(phone, clear("hello"))
    tap_space(phone)
    until(phone, adapted, 1)
    phone.uncheck("#swipe-learn")
    with phone.expect_response("**/api/adapt"):
        adapted[0].continue_()
    phone.wait_for_timeout(100)
    assert counts(phone) is None
