"""Hands and eyes for the tests of the page: swiping, touching, entering rooms, screenshots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from doeblin.gestures import Generator, Gesture, Layout

SHOTS = Path(__file__).parents[2] / "screenshots"
LAYOUT = Layout.qwerty()
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1180, "height": 900}


def opened(browser, server, expected: str = "", **options) -> Iterator[Any]:
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
    """Seconds and pixels; keys are as wide as the keyboard says and `aspect` times as tall."""
    page.locator("#swipe-keys").scroll_into_view_if_needed()
    box = page.locator("#swipe-keys").bounding_box()
    key = box["width"] / LAYOUT.width
    x = box["x"] + gesture.x * key
    y = box["y"] + gesture.y * key * LAYOUT.aspect
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
