"""What reading a file of gestures gave, and what was left out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..._errors import InputError
from ._gesture import Gesture

# So many problems are kept in full; after so many, a file that is mostly bad is none of gestures.
_KEPT, _HOPELESS = 1_000, 100_000


class Problem(NamedTuple):
    """A row that could not be used."""

    line: int
    reason: str


@dataclass
class Reading:
    """What a file held: its usable gestures, and the rows that were left out, by line.

    `lines` says where each gesture begins. Of the rows that were left out the first 1,000 are
    named, the others counted.
    """

    gestures: list[Gesture] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    format: str = "jsonl"
    lines: list[int] = field(default_factory=list)
    more_problems: int = 0

    @property
    def left_out(self) -> int:
        """How many rows were left out."""
        return len(self.problems) + self.more_problems

    def add(self, line: int, gesture: Gesture) -> None:
        """One more gesture, which begins at this line."""
        self.gestures.append(gesture)
        self.lines.append(line)

    def leave_out(self, line: int, reason: str) -> None:
        """One more row that cannot be used; an error where they are so many that all may be."""
        if len(self.problems) < _KEPT:
            self.problems.append(Problem(line, reason))
            return
        self.more_problems += 1
        if self.left_out > max(_HOPELESS, len(self.gestures)):
            first = self.problems[0]
            raise InputError(
                f"more than {_HOPELESS:,} rows cannot be used, and fewer can (line {first.line}: "
                f"{first.reason}); is this {self.format!r}, or another format?"
            )

    def report(self, most: int = 3) -> str:
        """One line about what was left out; empty if nothing was."""
        if not self.problems:
            return ""
        shown = "; ".join(f"line {line}: {reason}" for line, reason in self.problems[:most])
        more = self.left_out - most
        tail = f"; and {more} more" if more > 0 else ""
        return f"left out {self.left_out} malformed rows ({shown}{tail})"
