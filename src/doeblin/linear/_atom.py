"""Atoms, conjunctions and disjunctions of them, and what they say of a point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from .._errors import InputError

Relation = Literal["<=", "==", "!="]
LE: Relation = "<="
EQ: Relation = "=="
NE: Relation = "!="
RELATIONS: tuple[Relation, ...] = (LE, EQ, NE)
"""All relations; in arrays of atoms, a relation is its place here."""


class Atom(NamedTuple):
    """`coefficients · x  relation  constant`, the left side modulo `modulus` where that is not 0.

    An atom is as it was given; `lowest_terms` makes atoms that say the same thing equal.
    """

    coefficients: tuple[int, ...]
    relation: Relation
    constant: int
    modulus: int = 0

    def holds(self, point: Iterable[Any]) -> Any:
        """Truth at a point: a value for each variable. Arrays of values give an array."""
        value: Any = sum(a * x for a, x in zip(self.coefficients, point, strict=True) if a)
        if self.modulus:
            value %= self.modulus
        if self.relation == LE:
            return value <= self.constant
        return value == self.constant if self.relation == EQ else value != self.constant

    @property
    def truth(self) -> bool | None:
        """The truth value of an atom without variables, else None."""
        return None if any(self.coefficients) else self.holds(self.coefficients)

    def negated(self) -> Cube:
        """Atoms whose disjunction is the negation; a single one but for `<=` modulo a number."""
        if self.relation == LE and not self.modulus:
            return (Atom(tuple(-a for a in self.coefficients), LE, -self.constant - 1),)
        if self.relation == LE:
            rest = range(self.constant + 1, self.modulus)
            return tuple(Atom(self.coefficients, EQ, r, self.modulus) for r in rest)
        other = EQ if self.relation == NE else NE
        return (Atom(self.coefficients, other, self.constant, self.modulus),)

    def lowest_terms(self) -> Atom:
        """The same in lowest terms: `2x <= 5` as `x <= 2`; an equality begins positively.

        Refuses what is no atom: unknown relations, and a modulus that makes no congruence.
        """
        if self.relation not in RELATIONS:
            raise InputError(f"unknown relation {self.relation!r}: use one of {RELATIONS}")
        coefficients = tuple(int(a) for a in self.coefficients)
        constant, modulus = int(self.constant), int(self.modulus)
        if modulus < 0 or (modulus and self.relation == LE):
            raise InputError(
                f"modulus {modulus} with {self.relation!r}: a congruence needs a positive modulus "
                "and '==' or '!='"
            )
        if modulus:
            coefficients = tuple(a % modulus for a in coefficients)
            return Atom(coefficients, self.relation, constant % modulus, modulus)
        if not any(coefficients):
            return Atom(coefficients, self.relation, constant)
        divisor = math.gcd(*coefficients)
        if self.relation != LE:
            if constant % divisor:
                # Never equal: an atom without variables, which `truth` sees through.
                return Atom((0,) * len(coefficients), self.relation, 1)
            if next(a for a in coefficients if a) < 0:
                divisor = -divisor
        coefficients = tuple(a // divisor for a in coefficients)
        return Atom(coefficients, self.relation, constant // divisor)


Cube = tuple[Atom, ...]
Dnf = tuple[Cube, ...]
TEMPLATES = (
    (1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (1, 5), (2, 3), (3, 2), (1, 8), (3, 3), (2, 5), (4, 3),
    (4, 5), (6, 4),
)  # fmt: skip
"""The order in which templates (n, m) grow, where none is given; effort doubles at every wrap."""


def dnf_holds(dnf: Dnf, point: Sequence[int]) -> bool:
    """Whether some cube has all its atoms hold at the point."""
    return any(all(atom.holds(point) for atom in cube) for cube in dnf)


def dnf_size(dnf: Dnf) -> tuple[int, int, int]:
    """How long a formula is to read; for choosing the simplest."""
    atoms = [atom for cube in dnf for atom in cube]
    return (
        len(atoms),
        sum(sum(map(abs, a.coefficients)) + 2 * bool(a.modulus) for a in atoms),
        sum(abs(a.constant) for a in atoms),
    )
