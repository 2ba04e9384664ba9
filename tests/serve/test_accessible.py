"""axe-core has nothing to complain of: all rooms and the API's page, light and dark, two sizes."""

from __future__ import annotations

import pytest

from .browsing import DESK, PHONE, clear, draw, enter, swipe
from .conftest import SECONDS

# Experimental rules are off by default; this one holds for buttons that show their own text.
RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}


def complaints(page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


# After a frame the new scheme's transitions have begun; colours count when they have ended.
SETTLED = """async () => {
  await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
  const fading = document.getAnimations().filter(one => one instanceof CSSTransition);
  await Promise.allSettled(fading.map(one => one.finished));
}"""


# Both sizes and both schemes in either; colours seldom depend on the size.
LOOKS = [
    pytest.param([(PHONE, "light"), (DESK, "dark")], id="phone by day"),
    pytest.param(
        [(PHONE, "dark"), (DESK, "light")], id="phone by night", marks=pytest.mark.thorough
    ),
]
everywhere = pytest.mark.parametrize("looks", LOOKS)


def assert_fine(page, looks) -> None:
    """As it is now: on a phone and on a desk, by day and by night."""
    for size, scheme in looks:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.evaluate(SETTLED)
        assert complaints(page) == [], f"{scheme}, {size['width']} pixels wide"


@everywhere
@pytest.mark.parametrize("expected", ["status of 500"])
def test_swipe(page, looks):
    """With a word, and a swipe that got no answer."""
    enter(page, "swipe")
    page.route("**/api/decode", lambda route: route.fulfill(status=500, json={}))
    draw(page, clear("good"))
    page.wait_for_selector(".failed")
    page.unroute_all()
    swipe(page, clear("hello"))
    page.click("#chain-play")
    page.wait_for_selector("#chain-strip i")
    page.click("#chain-play")
    assert_fine(page, looks)


@everywhere
@pytest.mark.parametrize("expected", ["status of 422"])
def test_verify(page, looks):
    enter(page, "verify")
    page.click("summary")
    for example in ("nested", "off_by_one"):  # a proof and a failing run
        page.select_option("#verify-example", example)
        page.fill("#verify-seconds", str(SECONDS))
        page.click("#verify-start")
        page.wait_for_selector("#verify-verdict .listing", timeout=120_000)
        assert_fine(page, looks)
    page.fill("#verify-source", "int main(")
    page.click("#verify-start")
    page.wait_for_selector("#verify-gutter .bad")
    assert_fine(page, looks)


@everywhere
def test_chains(page, looks):
    enter(page, "chains")
    page.wait_for_selector("#stages-picture svg")
    assert_fine(page, looks)


@everywhere
def test_reference(page, looks):
    page.goto("/api")
    page.wait_for_selector("#operations details")
    page.locator("details").first.click()
    assert_fine(page, looks)


def test_axe_would_complain(page):
    """The referee is awake: a button without a name and grey text on grey are found."""
    enter(page, "chains")
    page.evaluate(
        """() => {
          document.getElementById("chains-more").textContent = "";
          const row = document.getElementById("chains-preset");
          row.parentElement.append(Object.assign(document.createElement("a"), { href: "#x" }));
        }"""
    )
    found = " ".join(complaints(page))
    assert "button-name" in found and "link-name" in found
