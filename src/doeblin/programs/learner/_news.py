"""What a search tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...linear import Dnf
from ..system import Cut


@dataclass
class Progress:
    """Counters that reports show."""

    rounds: int = 0
    steps: int = 0
    restarts: int = 0
    search_seconds: float = 0.0
    by: str = ""
    sources: tuple[str, ...] = ()
    gave_up: str | None = None


@dataclass(frozen=True)
class Note:
    """Something in words: new lemmas, or a change of the states that are looked at."""

    kind: str
    text: str


@dataclass(frozen=True)
class Asked:
    """The solver was asked about a candidate; a refuted one has become new examples."""

    round: int
    """0 for the assertion itself, before any search."""
    candidate: tuple[tuple[Cut, Dnf], ...]
    accepted: bool
    reachable: int
    """Examples known: states that runs reach, states that fail, and steps between others."""
    failing: int
    between: int
    steps: int
    restarts: int
    seconds: float


Listener = Callable[[Note | Asked], None]
