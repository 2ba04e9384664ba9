"""One server for all tests of a process, and a browser where there is one."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from .browsing import DESK, PHONE, again

COMMAND = [sys.executable, "-m", "doeblin", "serve"]
# The most that a proof may take: other tests run beside it.
SECONDS = 50
# The browser's own: two pages behind every page of ours, 1.2 s of CPU each time; a process for a
# page that may come; and playwright's list, which ours replaces.
_WITHOUT = (
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,AvoidCorsURLLoaderRestartOnRedirect,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,"
    "OptimizationHints,PaintHolding,PreconnectToSearch,ThirdPartyStoragePartitioning,"
    "SpareRendererForSitePerProcess"
)
# As root and without a display; nothing is fetched from anywhere.
_FLAGS = [
    f"--disable-features={_WITHOUT}",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Server:
    """A running `doeblin serve`."""

    process: subprocess.Popen[str]
    address: str

    @classmethod
    def start(cls, *options: str) -> Server:
        process = subprocess.Popen(
            [*COMMAND, "--port", "0", *options],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("doeblin is at http://127.0.0.1:"), line
        return cls(process, line.split()[3])

    def client(self, seconds: float = 300) -> httpx.Client:
        """Without certificates, which are for https and take 20 ms to read."""
        return httpx.Client(base_url=self.address, timeout=seconds, verify=False)

    def wait_until_ready(self, *kinds: str, seconds: float = 300) -> None:
        """Until all workers (of these kinds) are up; the first time ever, they compile."""
        until = time.monotonic() + seconds
        with self.client(60) as client:
            while time.monotonic() < until:
                pools = client.get("/api/health").json()["pools"]
                if all(pools[k]["workers"] == pools[k]["wanted"] for k in kinds or pools):
                    return
                time.sleep(0.1)
        raise AssertionError(f"the workers are not ready after {seconds} s")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        try:
            return self.process.wait(10)
        finally:
            self.process.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server.start("--timeout", str(SECONDS))
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:  # the page can be tested only where there is a browser
        pytest.skip("Chromium is not installed (apt-get install chromium): browser tests skipped")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield started
        started.close()


def follow(client: httpx.Client, id: str) -> Iterator[tuple[str, str]]:
    """The events of a proof: their names and data."""
    with client.stream("GET", f"/api/verify/{id}/events") as stream:
        event = ""
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                event = value
            elif name == "data":
                yield event, value


@pytest.fixture(scope="session")
def desk_page(browser, server) -> Any:
    return browser.new_context(base_url=server.address, viewport=DESK).new_page()


@pytest.fixture(scope="session")
def phone_page(browser, server) -> Any:
    context = browser.new_context(
        base_url=server.address, viewport=PHONE, has_touch=True, is_mobile=True
    )
    return context.new_page()


@pytest.fixture
def expected() -> str:
    """What the browser may complain of; tests that need it take it as a parameter."""
    return ""


@pytest.fixture
def page(desk_page, server, expected) -> Iterator[Any]:
    yield from again(desk_page, server, DESK, expected)


@pytest.fixture
def phone(phone_page, server, expected) -> Iterator[Any]:
    yield from again(phone_page, server, PHONE, expected)
