"""The page in a real browser: swiped on, clicked, looked at. Screenshots go to `screenshots/`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from doeblin.gestures import Decoder, Generator, Lexicon, Model

from .browsing import LAYOUT, PHONE, clear, enter, shoot, swipe, touch
from .conftest import SECONDS

# Chosen before the first run.
SWIPES, SEED, OTHER_SEED = 5, 2015, 2016


# ---- Swipe


def test_swipes_give_the_word_as_often_as_the_decoder_does(page):
    decoder = Decoder(Model.shipped())
    lexicon = Lexicon.embedded(10_000)
    maker = Generator(LAYOUT)
    known = list(maker.sample(lexicon, 150, OTHER_SEED, power=0.5))
    guesses = decoder.decode(known)
    pairs = list(zip(known, guesses, strict=True))
    first = np.mean([gesture.word == one[0].word for gesture, one in pairs])
    four = np.mean([gesture.word in [guess.word for guess in one] for gesture, one in pairs])
    page.set_viewport_size(PHONE)  # a small keyboard is drawn in half the time
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


# ---- Verify


def test_program_is_proved_by_clicking(page):
    enter(page, "verify")
    page.select_option("#verify-example", "cegar2")
    page.click("summary")
    page.fill("#verify-seconds", str(SECONDS))
    page.click("#verify-start")
    page.wait_for_selector("#verify-candidates li", timeout=120_000)
    page.wait_for_selector("#verify-verdict.SAFE", timeout=120_000)
    assert "No run" in page.text_content("#verify-banner")
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
    page.click("summary")
    page.fill("#verify-seconds", str(SECONDS))
    page.click("#verify-start")
    page.wait_for_selector("#verify-verdict.UNSAFE", timeout=120_000)
    assert "assert" in page.text_content(".listing .row.failing")
    assert "assertion" in page.locator(".steps tr").last.text_content()
    shoot(page, "unsafe")
    # The verdict is of this program: it says so while another stands above.
    page.fill("#verify-source", "int main(void) { return 0; }")
    assert "before you changed it" in page.inner_text("#verify-stale")
    page.fill("#verify-seconds", "999")
    page.click("#verify-start")
    assert "at most" in page.inner_text("#verify-banner") and page.is_hidden("#verify-stale")
    assert "return" in page.inner_text(".listing") and page.locator(".steps").count() == 0


def test_program_outlives_the_page(page):
    enter(page, "verify")
    page.select_option("#verify-example", "growth")
    example = page.input_value("#verify-source")
    page.reload()
    page.wait_for_selector("body[data-verify=ready]")
    assert page.input_value("#verify-source") == example
    assert page.input_value("#verify-example") == "growth"
    page.fill("#verify-source", "int mine;")
    page.reload()
    page.wait_for_selector("body[data-verify=ready]")
    assert page.input_value("#verify-source") == "int mine;"
    assert page.evaluate("document.getElementById('verify-example').value") == ""


# Browsers log a refusal by themselves, because its status is one of error.
@pytest.mark.parametrize("expected", ["status of 422"])
def test_own_program_and_its_error(page):
    enter(page, "verify")
    page.fill("#verify-source", "int x; // <b>1</b>\nint main( {\n}\n")
    page.click("#verify-start")
    page.wait_for_selector("#verify-banner")
    assert "line 2" in page.text_content("#verify-banner")
    assert page.text_content("#verify-gutter .bad") == "2"
    assert "main" in page.text_content(".listing .row.failing")
    assert "<b>1</b>" in page.text_content(".listing")
    assert page.locator(".listing b").count() == 0


def test_lines_are_numbered(page):
    enter(page, "verify")
    # At once: typed into the field, as `fill` does, every line costs Chromium 12 ms of CPU.
    page.evaluate(
        """() => {
          const area = document.getElementById("verify-source");
          area.value = Array.from({ length: 200 }, (_, line) => `// ${line + 1}`).join("\\n");
          area.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    assert page.locator("#verify-gutter .numbers div").count() == 200
    page.evaluate("document.getElementById('verify-source').scrollTop = 1e6")
    page.wait_for_function(
        """() => {
          const last = document.querySelector("#verify-gutter .numbers").lastChild;
          const area = document.getElementById("verify-source").getBoundingClientRect();
          const { top, bottom } = last.getBoundingClientRect();
          return area.top < top && bottom <= area.bottom;
        }"""
    )


def test_options_are_what_the_server_takes(page):
    enter(page, "verify")
    page.click("summary")
    assert page.get_attribute("#verify-seconds", "max") == str(SECONDS)
    assert f"at most {SECONDS}" in page.text_content("#verify-most")
    for field, value, told in (
        ("seconds", "60", f"at most {SECONDS}"),
        ("seconds", "10", None),
        ("seed", "-1", "whole number"),
        ("seed", "1.5", "whole number"),
    ):
        page.fill(f"#verify-{field}", value)
        if told:
            page.click("#verify-start")
            assert told in page.text_content("#verify-banner")
            assert page.is_enabled("#verify-start")


def test_timeout_says_so(page):
    from .test_hostile import ENDLESS

    enter(page, "verify")
    page.fill("#verify-source", ENDLESS)
    page.click("summary")
    page.fill("#verify-seconds", "1")
    page.click("#verify-start")
    page.wait_for_selector("#verify-banner.UNKNOWN", timeout=120_000)
    assert "Not decided" in page.text_content("#verify-state")
    assert "before a search" not in page.text_content("#room-verify")


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


def test_focus_stays_with_the_buttons_of_a_proof(page):
    enter(page, "verify")
    page.route("**/api/verify", lambda route: None)  # never answered
    page.focus("#verify-start")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verify-cancel:focus")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verify-start:focus")


def test_cancel_counts_before_the_server_has_answered(page):
    from .test_hostile import ENDLESS

    enter(page, "verify")
    page.fill("#verify-source", ENDLESS)
    held = []
    page.route("**/api/verify", lambda route: held.append(route))
    with page.expect_request("**/api/verify"):
        page.click("#verify-start")
    page.click("#verify-cancel")
    assert page.text_content("#verify-state") == "Cancelled."
    assert page.is_enabled("#verify-start")
    # The proof that nobody waits for is given up, and nothing of it is shown.
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as given_up:
        held[0].continue_()
    assert given_up.value.ok
    assert page.text_content("#verify-state") == "Cancelled."


# ---- Chains


@pytest.mark.thorough
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


def test_facts_of_another_chain_do_not_stay(page):
    enter(page, "chains")
    page.wait_for_selector("#chains-facts dd")
    page.wait_for_selector("#stages-facts dd")
    page.get_by_label("from 1 to 1", exact=True).fill("0.7")
    assert "sums to" in page.text_content("#chains-problem")
    assert page.locator("#chains-facts dd").count() == 0
    assert page.locator("#room-chains .picture svg, .laws svg, .curves svg").count() == 0
    page.click("#chains-even")
    page.wait_for_selector("#chains-facts dd")
    for exits, told in (("1, two", "two"), ("1, 0", "0 is not a rate"), ("1", "two rates")):
        page.fill("#stages-exits", exits)
        page.click("#stages-form button")
        assert told in page.text_content("#stages-problem")
        assert page.locator("#stages-facts dd, #stages-picture svg").count() == 0


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


@pytest.mark.thorough
def test_dark_and_reference(page):
    page.emulate_media(color_scheme="dark")
    enter(page, "chains")
    page.wait_for_selector("#stages-picture svg")
    shoot(page, "chains-dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(20, 22, 26)"
    page.goto("/api")
    page.wait_for_selector("#operations details")
    assert page.locator("#operations .path", has_text="/api/decode").count() == 1
    shoot(page, "api")
