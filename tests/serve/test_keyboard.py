"""Fingers as they are: two at a time, at rest beside another, and slow under a fast mouse."""

from __future__ import annotations

import json

import pytest

from .browsing import clear, enter, finger, places
from .test_phone import texts

# Sixty-four events for each that a browser tells of, in six times the time: as a mouse of 1000 Hz
# gives in the hand of someone who takes ten seconds for a word.
OFTEN = """() => {
  let [began, last] = [0, null];
  addEventListener("pointerdown", (event) => { began = event.timeStamp; last = event; }, true);
  PointerEvent.prototype.getCoalescedEvents = function () {
    const [from, all] = [last, []];
    const between = (name, part) => from[name] + (this[name] - from[name]) * part;
    for (let at = 1; at <= 64; at++) {
      const point = { clientX: between("clientX", at / 64), clientY: between("clientY", at / 64) };
      const one = new PointerEvent("pointermove", { ...point, pointerId: this.pointerId });
      const late = began + 6 * (between("timeStamp", at / 64) - began);
      Object.defineProperty(one, "timeStamp", { value: late });
      all.push(one);
    }
    last = this;
    return all;
  };
}"""


def path(page, word: str) -> list[tuple[float, float]]:
    return [(x, y) for _, x, y in places(page, clear(word))]


def draw_beside(page, word: str) -> None:
    """With a second pointer: DevTools cannot lift one finger of two, so that it is a mouse."""
    way = path(page, word)
    page.mouse.move(*way[0])
    page.mouse.down()
    for place in way[1:]:
        page.wait_for_timeout(8)
        page.mouse.move(*place)
    page.mouse.up()


@pytest.mark.parametrize("first", ["hello", "good"])
def test_two_thumbs_may_overlap(phone, first):
    """The second begins before the first is lifted, and even ends before it: both are words."""
    enter(phone, "swipe")
    at, way = finger(phone), path(phone, first)
    at("Start", *way[0])
    for place in way[1:]:
        at("Move", *place)
        phone.wait_for_timeout(8)
    draw_beside(phone, "time")
    assert phone.locator(".awaited").count() == 0  # words come in the order of their beginnings
    at("End")
    phone.wait_for_function(
        "() => document.querySelector('.maybe') && !document.querySelector('.awaited')"
    )
    assert texts(phone) == [first, "time"]


def test_a_finger_at_rest_is_no_word_and_holds_none_up(phone):
    enter(phone, "swipe")
    at = finger(phone)
    at("Start", *path(phone, "p")[0])
    draw_beside(phone, "hello")
    phone.wait_for_selector(".candidate")
    at("End")
    assert texts(phone) == ["hello"] and phone.locator(".awaited").count() == 0


@pytest.mark.thorough
def test_a_slow_swipe_with_a_fast_mouse_is_whole(page):
    """Thousands of events: no word needs them all, and no request may have them."""
    enter(page, "swipe")
    page.evaluate(OFTEN)
    sent = []
    page.on("request", lambda request: sent.append(request))
    box = page.locator("#swipe-keys").bounding_box()
    way = [point for point in path(page, "hello") for _ in range(3)]
    page.mouse.move(*way[0])
    page.mouse.down()
    for x, y in way[1:]:
        page.mouse.move(x, y)
    page.mouse.up()
    page.wait_for_selector(".candidate")
    (asked,) = [one for one in sent if one.url.endswith("/api/decode")]
    points = json.loads(asked.post_data)["points"]
    assert len(way) * 64 > 4000 and points[-1]["t"] > 8000  # 2000 points of 4 ms are not enough
    assert len(points) <= 2000 and len(asked.post_data) < 100_000
    key = box["width"] / 10
    assert points[-1]["x"] == pytest.approx((way[-1][0] - box["x"]) / key, abs=0.01)
    assert texts(page) == ["hello"]
