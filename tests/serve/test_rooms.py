"""Rooms whose server is away say so, lose nothing, and work once it is back."""

from __future__ import annotations

import pytest

from .browsing import clear, draw, enter, finger, touch
from .test_phone import board, texts

away = pytest.mark.parametrize("expected", ["ERR_INTERNET_DISCONNECTED"])
busy = pytest.mark.parametrize("expected", ["status of 503"])
BUSY = {"status": 503, "json": {"error": {"message": "the server is busy"}}}


def go(page, room: str) -> None:
    page.evaluate(f"location.hash = '#{room}'")


@away
def test_rooms_open_once_the_server_is_back(phone):
    enter(phone, "swipe")
    phone.context.set_offline(True)
    go(phone, "chains")
    phone.wait_for_selector("#chains-problem:not([hidden])")
    assert "cannot be reached" in phone.inner_text("#chains-problem")
    assert "cannot be reached" in phone.inner_text("#stages-problem")
    go(phone, "verify")
    phone.wait_for_selector("#verify-closed:not([hidden])")
    assert "cannot be reached" in phone.inner_text("#verify-closed")
    phone.evaluate("document.getElementById('verify-form').requestSubmit()")  # sends no form
    phone.context.set_offline(False)
    phone.wait_for_selector("body[data-verify=ready]")
    assert phone.is_hidden("#verify-closed") and phone.input_value("#verify-source")
    go(phone, "chains")
    phone.wait_for_selector("#chains-facts dd")
    phone.wait_for_selector("#stages-facts dd")
    assert phone.is_hidden("#chains-problem") and phone.is_hidden("#stages-problem")


@away
def test_swipes_while_it_is_away(phone):
    """What failed is said until the next swipe begins, and keeps its place until tried again."""
    enter(phone, "swipe")
    assert touch(phone, clear("hello"))[0] == "hello"
    phone.context.set_offline(True)
    draw(phone, clear("good"))
    phone.wait_for_selector("#swipe-problem:not([hidden])")
    assert "cannot be reached" in phone.inner_text("#swipe-problem")
    assert "“hello” was not learned" in phone.inner_text("#swipe-learned")
    assert texts(phone) == ["hello", "↻"] and phone.text_content("#swipe-mark") == ""
    at, box = finger(phone), board(phone)
    at("Start", box["x"] + 20, box["y"] + 20)
    assert phone.is_hidden("#swipe-problem")
    at("Cancel")
    phone.context.set_offline(False)
    assert touch(phone, clear("there"))[0] == "there"
    assert texts(phone) == ["hello", "↻", "there"]
    phone.reload()
    phone.wait_for_selector("body[data-swipe=ready]")
    assert texts(phone) == ["hello", "↻", "there"]
    phone.focus(".failed")
    phone.keyboard.press("Enter")
    phone.wait_for_function("() => !document.querySelector('.failed, .awaited')")
    assert texts(phone) == ["hello", "good", "there"]
    assert phone.text_content("#swipe-mark") == ""
    assert phone.evaluate("document.activeElement.id") == "swipe-text"


@busy
def test_a_busy_server_is_asked_again(phone):
    """When it says that it may be; a word is not lost for that."""
    asked = []

    def answer(route):
        asked.append(route)
        again = {"Retry-After": "1"}
        route.continue_() if len(asked) > 1 else route.fulfill(**{**BUSY, "headers": again})

    enter(phone, "swipe")
    phone.route("**/api/decode", answer)
    draw(phone, clear("hello"))
    phone.wait_for_selector(".candidate")
    assert texts(phone) == ["hello"] and len(asked) == 2


@busy
def test_no_program_is_blamed_for_a_busy_server(page):
    enter(page, "verify")
    page.route("**/api/verify", lambda route: route.fulfill(**BUSY))
    page.click("#verify-start")
    page.wait_for_selector("#verify-start:enabled")
    assert "could not be started: the server is busy" in page.inner_text("#verify-state")
    assert page.is_hidden("#verify-banner")


@busy
def test_no_chain_is_blamed_for_a_busy_server(page):
    enter(page, "chains")
    page.wait_for_selector("#chains-facts dd")
    page.route("**/api/chain", lambda route: route.fulfill(**BUSY))
    page.select_option("#chains-preset", "wells")
    page.wait_for_selector("#chains-problem:not([hidden])")
    assert "the server has not answered yet" in page.inner_text("#chains-laws")
    page.unroute("**/api/chain")
    page.wait_for_selector("#chains-facts dd")  # it is asked again
    assert page.is_hidden("#chains-problem")
