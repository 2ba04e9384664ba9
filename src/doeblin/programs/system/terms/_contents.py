"""Arrays as values: what all cells have in them, but for some."""

from __future__ import annotations

from typing import Any, NamedTuple


class Contents(NamedTuple):
    """An array: the value of most cells, and the others, in order; equal just where the arrays
    are."""

    most: int
    cells: tuple[tuple[int, int], ...] = ()

    def at(self, index: int) -> int:
        return dict(self.cells).get(index, self.most)

    def but(self, index: int, value: int) -> Contents:
        """With another value in one place."""
        changed = dict(self.cells) | {index: value}
        others = sorted((i, v) for i, v in changed.items() if v != self.most)
        return Contents(self.most, tuple(others))

    def as_dict(self) -> dict[str, int]:
        """For JSON."""
        return {**{str(i): v for i, v in self.cells}, "else": self.most}


def array_value(op: str, args: list[Any]) -> Any:
    """The value of a node that is about an array."""
    if op == "select":
        return args[0].at(args[1])
    return args[0].but(args[1], args[2]) if op == "store" else Contents(args[0])
