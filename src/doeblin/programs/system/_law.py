"""The inputs of a run by rule: parts that are repeated, however often."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, repeat

from ._graph import Havoc

Given = tuple[Havoc, int]


@dataclass(frozen=True, slots=True)
class Law:
    """Inputs in order: each part so many times."""

    parts: tuple[tuple[tuple[Given, ...], int], ...]

    @property
    def count(self) -> int:
        return sum(len(part) * times for part, times in self.parts)

    def head(self, count: int) -> list[Given]:
        """The first inputs."""
        parts = ((part, times) for part, times in self.parts if part)
        everything = (chain.from_iterable(repeat(part, times)) for part, times in parts)
        return list(islice(chain.from_iterable(everything), count))
