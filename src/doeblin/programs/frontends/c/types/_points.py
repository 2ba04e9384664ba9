"""What pointers may point to.

A program is read several times over: each reading finds what is assigned to pointers that may have
the targets of the reading before it, until nothing new comes up. A pointer of which no reading
finds more than one target, and no arithmetic, is no variable at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ....system.terms import Term
from ._types import CType, Opaque

Key = tuple[object, ...]
"""An object or a pointer, in every reading: where it is declared, and the calls that lead there."""

NULL: Key = ("null",)
NOWHERE: Key = ("nowhere",)  # of a pointer that has no value yet
ELSEWHERE: Key = ("elsewhere",)  # to what is not modelled, as a text
NUMBERS = {NULL: 0, NOWHERE: -1, ELSEWHERE: -2}


class Pointer(NamedTuple):
    """A pointer of the program: the variables that say to which object it points, and how many
    cells from its beginning; None where that is known without."""

    name: str  # for itself only
    shown: str
    element: CType | Opaque
    key: Key
    to: str | None
    at: str | None
    const: bool  # what it points to is not changed by it
    fixed: bool  # it always points to the same
    scopes: tuple[int, ...]  # where it is declared, and what is around that
    born: int


class Address(NamedTuple):
    """The value of a pointer; the null pointer has no type."""

    element: CType | Opaque | None
    targets: frozenset[Key]
    to: Term
    at: Term
    const: bool = False


class Life(NamedTuple):
    """The scope of an object, and when in the text it begins."""

    scope: int
    born: int
    variable_length: bool


@dataclass
class Points:
    """Of all pointers: their targets, and those that may point beyond an object's beginning."""

    known: dict[Key, frozenset[Key]] = field(default_factory=dict)
    moving: frozenset[Key] = frozenset()
    found: dict[Key, set[Key]] = field(default_factory=dict)
    moved: set[Key] = field(default_factory=set)

    def of(self, pointer: Key) -> frozenset[Key]:
        return self.known.get(pointer, frozenset())

    def add(self, pointer: Key, targets: Iterable[Key], *, moved: bool) -> None:
        self.found.setdefault(pointer, set()).update(targets)
        if moved:
            self.moved.add(pointer)

    def next(self) -> Points | None:
        """For the next reading; None if this one found nothing new."""
        known = {
            pointer: frozenset(targets | self.of(pointer))
            for pointer, targets in self.found.items()
        }
        known = {**self.known, **known}
        moving = self.moving | self.moved
        if known == self.known and moving == self.moving:
            return None
        return Points(known, moving)

    def everything(self) -> set[Key]:
        """All objects that a pointer may point to."""
        return {target for targets in self.known.values() for target in targets} - NUMBERS.keys()
