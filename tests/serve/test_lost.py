"""Connections that are cut: a proof goes on, and the page says how it stands."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from .browsing import DESK, enter
from .test_hostile import ENDLESS

STATE = "document.getElementById('verify-state').textContent"
# What is said for half a second may be missed by who looks now and then.
REMEMBER = """() => {
  window.said = [];
  const state = document.getElementById("verify-state");
  new MutationObserver(() => said.push(state.textContent)).observe(state, { childList: true });
}"""


class Wire:
    """A port that passes everything on to the server, until it is cut."""

    def __init__(self, port: int):
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                self._open += near, far
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()

    def close(self) -> None:
        """For good: nobody gets through any more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()


@pytest.fixture
def wire(server) -> Iterator[Wire]:
    found = Wire(int(server.address.rpartition(":")[2]))
    yield found
    found.close()


@pytest.fixture
def room(browser, wire):
    page = browser.new_context(base_url=wire.address, viewport=DESK).new_page()
    page.clock.install()
    enter(page, "verify")
    page.fill("#verify-source", ENDLESS)
    page.click("#room-verify summary")
    page.fill("#verify-seconds", "4")
    page.click("#verify-start")
    page.wait_for_function(f"() => {STATE}.startsWith('Searching')", timeout=60_000)
    yield page
    page.context.close()


def says(page, text: str, seconds: float = 60) -> None:
    page.wait_for_function(f"() => {STATE}.includes('{text}')", timeout=1000 * seconds)


def test_a_proof_outlives_a_cut(room, wire):
    room.evaluate(REMEMBER)
    wire.cut()
    says(room, "Not decided")
    assert room.is_visible("#verify-banner.UNKNOWN")
    said = room.evaluate("said")
    lost = [number for number, text in enumerate(said) if "trying again" in text]
    assert lost and any(text.startswith("Searching") for text in said[lost[-1] :])


def test_a_server_that_is_gone_is_given_up(room, wire):
    wire.close()
    says(room, "trying again")
    assert room.is_enabled("#verify-cancel")
    room.clock.fast_forward(11_000)
    says(room, "The connection was lost.")
    assert room.is_enabled("#verify-start")
