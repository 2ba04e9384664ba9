"""Loading the search."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ..._compiling import not_counted
from ..solve import Budget
from ._methods import search_method

if TYPE_CHECKING:
    from ...formulas import Method


def engine(name: str, budget: Budget) -> Method:
    """A method by its name; loading the search the first time is not the program's fault."""
    with budget.excused(1.0):
        return load(lambda: search_method(name), budget.tick)


def load(method: Callable[[], Method], tick: Callable[[], None]) -> Method:
    """The method, with the search imported. Imports cannot be interrupted, so they have a thread
    of their own, and whoever waits here can be: by what `tick` raises."""
    found: list[Method | BaseException] = []

    def work() -> None:
        try:
            with not_counted():
                import_module(f"{__package__}.search")
                made = method()
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
