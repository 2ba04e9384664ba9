"""Hands and eyes for the tests of the page: swiping, touching, entering rooms, screenshots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from doeblin.gestures import Generator, Gesture, Layout

SHOTS = Path(__file__).parents[2] / "screenshots"
LAYOUT = Layout.qwerty()
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1180, "height": 900}


def again(page, server, size: dict[str, int], expected: str) -> Iterator[Any]:
    """A page that was used before and remembers nothing: a new one costs as much as many a test.
    It leaves our page, so that the next test loads it, but not our host, whose process goes on."""
    page.set_viewport_size(size)
    page.emulate_media(color_scheme="light")
    try:
        yield from watched(page, server, expected)
    finally:
        page.context.set_offline(False)
        page.unroute_all()
        page.goto("/favicon.svg")
        page.evaluate("() => (localStorage.clear(), sessionStorage.clear())")


def watched(page, server, expected: str) -> Iterator[Any]:
    """It must not complain (but as `expected`), nor ask anything of another host."""
    complaints: list[str] = []
    ears = {
        "console": lambda message: complaints.append(
            f"{message.text} ({message.location.get('url')})"
        ),
        "pageerror": lambda error: complaints.append(str(error)),
        "request": lambda request: (
            request.url.startswith((server.address, "blob:", "data:"))
            or complaints.append(request.url)
        ),
    }
    for event, ear in ears.items():
        page.on(event, ear)
    yield page
    for event, ear in ears.items():
        page.remove_listener(event, ear)
    odd = [one for one in complaints if not expected or expected not in one]
    assert not odd, odd


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
    draw(page, gesture)
    page.wait_for_selector(".candidate")
    return page.locator(".candidate .word").all_text_contents()


def draw(page, gesture: Gesture) -> None:
    """With a finger, and without waiting for what it means."""
    at = finger(page)
    path = places(page, gesture)
    at("Start", *path[0][1:])
    began = time.perf_counter()
    for seconds, x, y in path[1:]:
        time.sleep(max(0.0, seconds - (time.perf_counter() - began)))
        at("Move", x, y)
    at("End")


def finger(page) -> Callable[..., None]:
    """It starts and moves at a place in pixels, and ends."""
    send = page.context.new_cdp_session(page).send

    def at(kind: str, *where: float) -> None:
        points = [{"x": where[0], "y": where[1]}] if where else []
        send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    return at


def clear(word: str) -> Gesture:
    return Generator(LAYOUT, noise=0.3).gesture(word, np.random.default_rng(0))
