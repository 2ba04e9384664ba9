"""What a strategy is."""

from __future__ import annotations

from typing import Protocol

from ..solve import Turns
from ..verdict import Verdict


class Strategy(Protocol):
    """A way to a verdict."""

    def run(self) -> Turns[Verdict | None]:
        """Pauses wherever others may have a turn; returns a verdict, or None if there is none to
        be had this way."""
        ...
