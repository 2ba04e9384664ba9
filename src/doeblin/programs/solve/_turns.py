"""Work that can be interrupted: a generator that pauses wherever others may have a turn.

What it comes to is the value that it returns.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Pause(Enum):
    """What would be interrupted."""

    NOTHING = "between two steps"
    MIDST = "in the midst of one"


Turns = Generator[Pause, None, T]


def finish(work: Turns[T]) -> T:
    """All of the work, with no turn for others."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
