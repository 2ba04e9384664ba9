"""The page under a finger: nothing moves, every word counts, and it always shows that it works."""

from __future__ import annotations

import time

import pytest

from doeblin.gestures import Lexicon

from .browsing import DESK, LAYOUT, PHONE, clear, enter, finger, shoot, touch

# Long enough to wrap on a phone several times over.
SENTENCE = ["hello", "world", "there", "people", "would", "things"]


def board(page) -> dict[str, float]:
    return page.locator("#swipe-keys").bounding_box()


def texts(page) -> list[str]:
    return page.text_content("#swipe-text").split()


def tap_space(page) -> None:
    box = board(page)
    key = box["width"] / LAYOUT.width
    bottom = box["y"] + 3 * key * LAYOUT.aspect  # below three rows of letters
    page.touchscreen.tap(box["x"] + box["width"] / 2, (bottom + box["y"] + box["height"]) / 2)


def test_words_in_a_row_and_text_that_wraps(phone):
    """The keyboard stays where it is, from the first touch to text of more lines than are shown."""
    enter(phone, "swipe")
    place = board(phone)
    for number, word in enumerate(SENTENCE, 1):
        assert touch(phone, clear(word))[0] == word
        assert board(phone) == place
        if number % 2:  # every other word is tapped, the others stand
            phone.locator(".candidate").first.tap()
        assert texts(phone) == SENTENCE[:number]
        assert board(phone) == place
    shoot(phone, "phone-sentence")
    text = phone.locator("#swipe-text")
    assert text.evaluate("one => one.scrollHeight > one.clientHeight")  # it wrapped, and scrolls
    assert text.evaluate("one => one.scrollTop + one.clientHeight >= one.scrollHeight - 2")


def test_space_bar_takes_the_word(phone):
    enter(phone, "swipe")
    tap_space(phone)  # nothing stands: nothing is typed, nothing is asked
    assert phone.locator(".candidate").count() == 0 and "appear here" in phone.inner_text(
        "#swipe-text"
    )
    touch(phone, clear("hello"))
    tap_space(phone)
    assert texts(phone) == ["hello"]
    assert phone.locator(".candidate").count() == 0 and phone.locator(".maybe").count() == 0
    assert touch(phone, clear("world"))[0] == "world"
    assert texts(phone) == ["hello", "world"]


ACROSS = {"width": 844, "height": 390}
SMALL = {"width": 320, "height": 568}
# Margins of cards that the keyboard stands in.
_WIDE = """() => {
  const board = document.querySelector(".board");
  const { paddingLeft, paddingRight } = getComputedStyle(board);
  return board.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}"""


def edges(page, *selectors: str) -> tuple[float, float]:
    """Of all these together, from the top of the view."""
    boxes = [page.locator(one).bounding_box() for one in selectors]
    return min(box["y"] for box in boxes), max(box["y"] + box["height"] for box in boxes)


@pytest.mark.thorough
def test_held_across_everything_is_in_view(phone):
    """Text, candidates and the whole keyboard, which stays; beside it, a finger scrolls."""
    phone.set_viewport_size(ACROSS)
    enter(phone, "swipe")
    place = board(phone)
    for words in (["hello"], ["hello", "world"]):
        assert touch(phone, clear(words[-1]))[0] == words[-1]
        top, bottom = edges(phone, "#swipe-text", ".candidate >> nth=3", "#swipe-keys")
        assert top >= 0 and bottom <= ACROSS["height"]
        assert board(phone) == place and texts(phone) == words
    assert phone.evaluate("scrollY") == 0
    assert place["height"] > 0.7 * ACROSS["height"]  # and large enough for a thumb
    shoot(phone, "phone-across")
    at = finger(phone)
    x, y = place["x"] / 2, 330
    at("Start", x, y)
    for step in range(1, 11):
        at("Move", x, y - 20 * step)
    at("End")
    phone.wait_for_function("() => scrollY > 0")


def test_upright_the_keyboard_is_as_wide_as_its_card(phone):
    enter(phone, "swipe")
    for size in (PHONE, SMALL, DESK):
        phone.set_viewport_size(size)
        top, bottom = edges(phone, "#swipe-text", ".answers", "#swipe-keys")
        assert bottom - top <= size["height"]
        assert board(phone)["width"] == pytest.approx(phone.evaluate(_WIDE), abs=1)


def test_mark_comes_at_once(phone):
    """Within 100 ms of lifting the finger there is a mark, though the answer takes a second."""
    enter(phone, "swipe")
    phone.evaluate(
        """() => {
          const lifted = () => (window.up = performance.now());
          document.getElementById("swipe-keys").addEventListener("pointerup", lifted, true);
          new MutationObserver(() => (window.seen ??= performance.now()))
            .observe(document.getElementById("swipe-mark"), { attributes: true, childList: true });
        }"""
    )

    def slowly(route):
        time.sleep(1)
        route.continue_()

    phone.route("**/api/decode", slowly)
    assert touch(phone, clear("hello"))[0] == "hello"
    assert 0 <= phone.evaluate("window.seen - window.up") < 100
    assert phone.text_content("#swipe-mark") == ""  # and it goes with the answer


def test_waiting_for_the_decoder_is_explained(phone):
    """While the decoder is compiled, the page says so; the swipe is answered when it is ready."""
    doing = "compiling the decoder once, about 9 s"
    busy = {"ready": False, "doing": doing, "workers": 0, "wanted": 2, "waiting": 1}
    health = {"version": "", "pools": {"decode": busy}}
    phone.route("**/api/health", lambda route: route.fulfill(json=health))
    held = []
    phone.route("**/api/decode", lambda route: held.append(route))
    enter(phone, "swipe")
    phone.wait_for_function(
        "() => /Compiling/.test(document.getElementById('swipe-mark').textContent)"
    )
    phone.fill("#swipe-typed", "hello")
    phone.tap("#swipe-form button")
    phone.wait_for_function(
        "() => /about 9 s … 1 s/.test(document.getElementById('swipe-mark').textContent)"
    )
    held[0].fulfill(json={"candidates": [{"word": "hello", "probability": 1}]})
    phone.wait_for_selector(".candidate")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=str)
def test_long_candidates_do_not_collide(phone, size):
    phone.set_viewport_size(size)
    lexicon = Lexicon.embedded(10_000).words
    words = ["i", *sorted(lexicon, key=len)[-3:]]
    assert len(words[-1]) >= 17
    found = [{"word": word, "probability": 0.25} for word in words]
    phone.route("**/api/decode", lambda route: route.fulfill(json={"candidates": found}))
    enter(phone, "swipe")
    phone.fill("#swipe-typed", "hello")
    phone.tap("#swipe-form button")
    phone.wait_for_selector(".candidate")
    shoot(phone, f"long-{size['width']}")
    for candidate in phone.locator(".candidate").all():
        word, percent, number = (
            candidate.locator(part).evaluate(
                """one => {
                  const range = document.createRange();
                  range.selectNodeContents(one);
                  const { left, right, top, bottom } = range.getBoundingClientRect();
                  return { left, right, top, bottom };
                }"""
            )
            for part in (".word", ".percent", ".number")
        )
        box = candidate.bounding_box()
        right = box["x"] + box["width"]
        assert word["right"] <= right and number["right"] <= right
        assert word["bottom"] <= percent["top"] + 2 and percent["right"] < number["left"]
        assert candidate.locator(".word").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_verdict_is_seen_without_scrolling(phone):
    enter(phone, "verify")
    phone.select_option("#verify-example", "off_by_one")
    phone.tap("#verify-start")
    phone.wait_for_selector("#verify-banner.UNSAFE", timeout=120_000)
    box = phone.locator("#verify-banner").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 844
    phone.set_viewport_size(DESK)
    phone.evaluate("scrollTo(0, 0)")
    box = phone.locator("#verify-banner").bounding_box()
    assert box["y"] + box["height"] <= 900
