"""The page in a real browser: swiped on, clicked, looked at. Screenshots go to `screenshots/`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doeblin.gestures import Decoder, Generator, Gesture, Layout, Lexicon, Model

SHOTS = Path(__file__).parents[2] / "screenshots"
LAYOUT = Layout.qwerty()
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1180, "height": 900}
# Chosen before the first run.
SWIPES, SEED, OTHER_SEED = 16, 2015, 2016


@pytest.fixture
def page(browser, server) -> Iterator[Any]:
    yield from _page(browser, server, viewport=DESK)


@pytest.fixture
def phone(browser, server) -> Iterator[Any]:
    yield from _page(browser, server, viewport=PHONE, has_touch=True, is_mobile=True)


def _page(browser, server, expected: str = "", **options) -> Iterator[Any]:
    """A page that must not complain (but as `expected`), nor ask anything of another host."""
    context = browser.new_context(base_url=server.address, accept_downloads=True, **options)
    found = context.new_page()
    complaints: list[str] = []
    found.on("console", lambda message: complaints.append(message.text))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on(
        "request",
        lambda request: (
            request.url.startswith((server.address, "blob:", "data:"))
            or complaints.append(request.url)
        ),
    )
    yield found
    context.close()
    assert [one for one in complaints if not expected or expected not in one] == []


def enter(page, room: str) -> None:
    page.goto(f"/#{room}")
    page.wait_for_selector(f"body[data-{room}=ready]")


def shoot(page, name: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True)


def places(page, gesture: Gesture) -> list[tuple[float, float, float]]:
    """Seconds and pixels."""
    page.locator("#swipe-keys").scroll_into_view_if_needed()
    box = page.locator("#swipe-keys").bounding_box()
    x = box["x"] + gesture.x / LAYOUT.width * box["width"]
    y = box["y"] + gesture.y / LAYOUT.height * box["height"]
    return list(zip((gesture.t / 1000).tolist(), x.tolist(), y.tolist(), strict=True))


def swipe(page, gesture: Gesture) -> list[str]:
    """Replay a gesture with the mouse in its own time; the candidates that appear."""
    path = places(page, gesture)
    page.mouse.move(*path[0][1:])
    page.mouse.down()
    began = time.perf_counter()
    for seconds, x, y in path[1:]:
        time.sleep(max(0.0, seconds - (time.perf_counter() - began)))
        page.mouse.move(x, y)
    page.mouse.up()
    page.wait_for_selector(".candidate")
    return page.locator(".candidate .word").all_text_contents()


def touch(page, gesture: Gesture) -> list[str]:
    """The same with a finger."""
    send = page.context.new_cdp_session(page).send
    path = places(page, gesture)

    def at(kind: str, *where: float) -> None:
        points = [{"x": where[0], "y": where[1]}] if where else []
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    at("touchStart", *path[0][1:])
    began = time.perf_counter()
    for seconds, x, y in path[1:]:
        time.sleep(max(0.0, seconds - (time.perf_counter() - began)))
        at("touchMove", x, y)
    at("touchEnd")
    page.wait_for_selector(".candidate")
    return page.locator(".candidate .word").all_text_contents()


def clear(word: str) -> Gesture:
    return Generator(LAYOUT, noise=0.3).gesture(word, np.random.default_rng(0))


# ---- Swipe


def test_swipes_give_the_word_as_often_as_the_decoder_does(page):
    decoder = Decoder(Model.shipped())
    lexicon = Lexicon.embedded(10_000)
    maker = Generator(LAYOUT)
    known = list(maker.sample(lexicon, 400, OTHER_SEED, power=0.5))
    guesses = decoder.decode(known)
    pairs = list(zip(known, guesses, strict=True))
    first = np.mean([gesture.word == one[0].word for gesture, one in pairs])
    four = np.mean([gesture.word in [guess.word for guess in one] for gesture, one in pairs])
    enter(page, "swipe")
    found = []
    for gesture in maker.sample(lexicon, SWIPES, SEED, power=0.5):
        found.append((gesture.word, swipe(page, gesture)))
        page.click("#swipe-clear")
    for share, hits in (
        (first, sum(word == words[0] for word, words in found)),
        (four, sum(word in words for word, words in found)),
    ):
        error = np.sqrt(SWIPES * share * (1 - share))
        assert hits >= SWIPES * share - 3 * error, found


def test_tapping_builds_up_text(page):
    enter(page, "swipe")
    assert swipe(page, clear("hello"))[0] == "hello"
    page.locator(".candidate").first.click()
    assert swipe(page, clear("world"))[0] == "world"
    assert page.text_content("#swipe-text").split() == ["hello", "world"]
    second = page.locator(".candidate .word").nth(1).text_content()
    page.locator(".candidate").nth(1).click()
    assert page.text_content("#swipe-text").split() == ["hello", second]
    shoot(page, "swipe")
    page.click("#swipe-back")
    assert page.text_content("#swipe-text").split() == ["hello"]


def test_trace_stays_visible(page):
    enter(page, "swipe")
    blank = page.locator("#swipe-keys").screenshot()
    swipe(page, clear("hello"))
    page.mouse.move(5, 5)
    assert page.locator("#swipe-keys").screenshot() != blank
    assert page.evaluate(_TERRACOTTA) > 500


_TERRACOTTA = """() => {
  const keys = document.getElementById("swipe-keys");
  const { data } = keys.getContext("2d").getImageData(0, 0, keys.width, keys.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += data[i] > data[i + 2] + 80 && data[i + 3] > 200;
  return count;
}"""


def test_chain_is_shown(page):
    enter(page, "swipe")
    swipe(page, Generator(LAYOUT, noise=1.5).gesture("hello", np.random.default_rng(1)))
    page.click("#chain-play")
    page.wait_for_selector("#chain-strip i.restart")
    page.wait_for_function("() => document.querySelectorAll('#chain-strip i').length > 10")
    shoot(page, "tours")
    page.click("#chain-play")  # skip to the end
    assert page.locator("#chain-strip i").count() == 200
    bars = page.locator(".bar:not([hidden]) .value").all_text_contents()
    assert len(bars) >= 2
    assert page.text_content("#chain-count").startswith("Step 200 of 200")


def test_without_a_pointer(page):
    enter(page, "swipe")
    page.focus("#swipe-typed")
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    page.wait_for_selector(".candidate")
    words = page.locator(".candidate .word").all_text_contents()
    assert "hello" in words
    assert all(word in page.text_content("#swipe-live") for word in words)
    page.keyboard.press("2")
    assert page.text_content("#swipe-text").strip() == words[1]
    assert words[1] in page.text_content("#swipe-live")
    page.focus("#swipe-clear")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first candidate
    assert page.text_content("#swipe-text").strip() == words[0]


def test_everything_has_a_name(page):
    """What a screen reader reads: no control without a name, one heading for each room."""
    for room in ("swipe", "verify", "chains"):
        enter(page, room)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, input, select, textarea, a")]
              .filter((one) => one.offsetParent && !one.labels?.length
                && !one.textContent.trim() && !one.ariaLabel && !one.title)
              .map((one) => one.outerHTML)"""
        )
        assert nameless == []
        assert page.locator("h1:visible").count() == 1


# ---- Verify


def test_program_is_proved_by_clicking(page):
    enter(page, "verify")
    page.select_option("#verify-example", "cegar2")
    page.click("#verify-start")
    page.wait_for_selector("#verify-candidates li", timeout=120_000)
    page.wait_for_selector("#verify-verdict.SAFE", timeout=120_000)
    assert "invariant" in page.text_content(".listing .row.invariant")
    after = page.locator(".listing .row.invariant + .row .code").text_content()
    assert after.strip().startswith("while")
    shoot(page, "verify")
    for kind, inside in (("acsl", "loop invariant"), ("witness", "invariant_set"),
                         ("certificate", "check-sat")):  # fmt: skip
        with page.expect_download() as download:
            page.click(f".downloads button[data-kind={kind}]")
        assert inside in Path(download.value.path()).read_text()


def test_failing_program_shows_its_run(page):
    enter(page, "verify")
    page.select_option("#verify-example", "off_by_one")
    page.click("#verify-start")
    page.wait_for_selector("#verify-verdict.UNSAFE", timeout=120_000)
    assert "assert" in page.text_content(".listing .row.failing")
    assert "assertion" in page.locator(".steps tr").last.text_content()
    shoot(page, "unsafe")


def test_own_program_and_its_error(browser, server):
    # Browsers log a refusal by themselves, because its status is one of error.
    for page in _page(browser, server, "status of 422", viewport=DESK):
        enter(page, "verify")
        page.fill("#verify-source", "int x; // <b>1</b>\nint main( {\n}\n")
        page.click("#verify-start")
        page.wait_for_selector("#verify-verdict .banner")
        assert "line 2" in page.text_content("#verify-verdict .banner")
        assert "main" in page.text_content(".listing .row.failing")
        assert "<b>1</b>" in page.text_content(".listing")
        assert page.locator(".listing b").count() == 0


def test_cancel_is_at_once(page):
    from .test_hostile import ENDLESS

    enter(page, "verify")
    page.fill("#verify-source", ENDLESS)
    page.click("#verify-start")
    page.wait_for_selector("#verify-state.running")
    page.click("#verify-cancel")
    page.wait_for_function(
        "() => document.getElementById('verify-state').textContent === 'Cancelled.'", timeout=8000
    )  # long enough for a process to start on a busy machine, shorter than the search's own limit
    assert page.is_enabled("#verify-start")


# ---- Chains


def test_sliders_change_the_picture(page):
    enter(page, "chains")
    page.wait_for_selector("#chains-laws svg")

    def move(slider: str, value: str) -> dict[str, str]:
        names = ("chains-laws", "chains-graph", "chains-curves", "chains-facts")
        before = page.inner_html("#chains-laws")
        page.evaluate(
            """([id, value]) => {
              const slider = document.getElementById(id);
              slider.value = value;
              slider.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            [slider, value],
        )
        page.wait_for_function(
            "(old) => document.getElementById('chains-laws').innerHTML !== old", arg=before
        )
        return {name: page.inner_html(f"#{name}") for name in names}

    first = move("chains-epsilon", "-0.3")
    shoot(page, "chains")
    second = move("chains-epsilon", "-3")
    assert all(first[name] != second[name] for name in first)
    assert "0.001" in page.text_content("#chains-facts")
    third = move("chains-delta", "-2.5")
    assert all(second[name] != third[name] for name in ("chains-laws", "chains-curves"))


def test_own_matrix_and_stages(page):
    enter(page, "chains")
    page.get_by_label("from 1 to 1", exact=True).fill("0.7")
    page.click("#chains-even")
    page.wait_for_function("() => document.getElementById('chains-problem').hidden")
    assert page.input_value("#chains-matrix tr:nth-child(2) input") == "0.875"
    page.click("#chains-more")
    page.wait_for_function("() => document.querySelectorAll('#chains-laws rect').length === 8")
    assert page.locator("#chains-matrix input").count() == 20
    page.fill("#stages-exits", "1, 0.5, 0.01")
    page.click("#stages-form button")
    page.wait_for_function(
        "() => document.getElementById('stages-facts').textContent.includes('a = ')"
    )
    page.fill("#stages-exits", "1, two")
    page.click("#stages-form button")
    assert "two" in page.text_content("#stages-problem")


# ---- phones, the dark, the API's page


def test_usable_at_phone_width(phone):
    for room in ("swipe", "verify", "chains"):
        enter(phone, room)
        if room == "swipe":
            assert touch(phone, clear("hello"))[0] == "hello"
            phone.locator(".candidate").first.tap()
        elif room == "verify":
            phone.select_option("#verify-example", "off_by_one")
            phone.tap("#verify-start")
            phone.wait_for_selector("#verify-verdict.UNSAFE", timeout=120_000)
        else:
            phone.wait_for_selector("#stages-picture svg")
        shoot(phone, f"phone-{room}")
        wide = phone.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        small = phone.evaluate(
            """() => [...document.querySelectorAll("button, select, nav a")]
              .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 30)
              .map((one) => one.textContent)"""
        )
        assert small == []


def test_dark_and_reference(browser, server):
    for page in _page(browser, server, viewport=DESK, color_scheme="dark"):
        enter(page, "chains")
        page.wait_for_selector("#stages-picture svg")
        shoot(page, "chains-dark")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(20, 22, 26)"
        page.goto("/api")
        page.wait_for_selector("#operations details")
        assert page.locator("#operations .path", has_text="/api/decode").count() == 1
        shoot(page, "api")
