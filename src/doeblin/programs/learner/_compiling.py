"""Loading the search engine, and whether it is being compiled, for those who watch a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...formulas._stages import Method

COMPILING = threading.Event()


def compiling() -> bool:
    """Is the engine being compiled right now? That happens once, on the first use ever."""
    return COMPILING.is_set()


def load(method: Callable[[], Method], tick: Callable[[], None]) -> Method:
    """The method, with its engine loaded. Imports and compilers cannot be interrupted, so they
    have a thread of their own, and whoever waits here can be: by what `tick` raises."""
    found: list[Method | BaseException] = []

    def work() -> None:
        try:
            from ._search import compiled

            made = method()
            compiled(made)
            found.append(made)
        except BaseException as error:  # handed to the one who waits
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.02)
        tick()
    (result,) = found
    if isinstance(result, BaseException):
        raise result
    return result
