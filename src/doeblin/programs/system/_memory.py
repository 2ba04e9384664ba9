"""The cells of an array in a run: those that something was stored in, and what the others have."""

from __future__ import annotations

from collections.abc import Callable

from ._graph import Fill

Contents = Callable[[Fill], Callable[[int], int] | None]


class Memory:
    """An array: `cells` that have a value, and how the others get theirs."""

    __slots__ = ("_given", "cells", "filled")

    def __init__(self) -> None:
        self.cells: dict[int, int] = {}
        self.filled: Fill | None = None
        self._given: Callable[[int], int] | None = None

    def refill(self, fill: Fill, given: Callable[[int], int] | None) -> None:
        """All cells anew; `given` says what they are, where that is decided already."""
        self.cells, self.filled, self._given = {}, fill, given

    def known(self, index: int) -> int | None:
        """What a cell has in it; None where that is an input which was not asked for yet."""
        found = self.cells.get(index)
        if found is not None or self.filled is None:
            return found
        return self.filled.value

    def decided(self, index: int) -> int | None:
        """The input that a cell gets, if somebody has decided that."""
        return self._given(index) if self._given is not None else None

    def copy(self) -> Memory:
        made = Memory()
        made.cells, made.filled, made._given = dict(self.cells), self.filled, self._given
        return made
