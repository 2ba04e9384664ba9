"""Atoms `a·x ≤ b`, `= b`, `≠ b`, also modulo a constant, and formulas made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..terms import Term, add, compare, conj, const, disj, divide, mul, var

LE, EQ, NE = 0, 1, 2


class Atom(NamedTuple):
    vector: tuple[int, ...]
    relation: int
    constant: int
    modulus: int = 0

    def holds(self, point: Sequence[int]) -> bool:
        value = sum(c * x for c, x in zip(self.vector, point, strict=True) if c)
        if self.modulus:
            value %= self.modulus
        if self.relation == LE:
            return value <= self.constant
        return (value == self.constant) == (self.relation == EQ)

    def negated(self) -> tuple[Atom, ...]:
        """Atoms whose disjunction is the negation."""
        if self.relation == LE and not self.modulus:
            flipped = tuple(-c for c in self.vector)
            return (Atom(flipped, LE, -self.constant - 1),)
        if self.relation == LE:
            return tuple(
                Atom(self.vector, EQ, r, self.modulus)
                for r in range(self.constant + 1, self.modulus)
            )
        other = EQ if self.relation == NE else NE
        return (Atom(self.vector, other, self.constant, self.modulus),)

    def term(self, names: Sequence[str]) -> Term:
        """As a term, with positive coefficients on both sides for people to read."""
        if self.modulus:
            total = add(*(mul(const(c), var(n)) for c, n in zip(self.vector, names, strict=True)))
            left, right = divide("mod", total, const(self.modulus)), const(self.constant)
        else:
            pairs = list(zip(self.vector, names, strict=True))
            left = add(*(mul(const(c), var(n)) for c, n in pairs if c > 0))
            right = add(*(mul(const(-c), var(n)) for c, n in pairs if c < 0))
            if left.constant:
                left, right = add(left, const(-self.constant)), right
            else:
                right = add(right, const(self.constant))
        return compare(("<=", "=", "!=")[self.relation], left, right)


Cube = tuple[Atom, ...]
Dnf = tuple[Cube, ...]


def dnf_holds(dnf: Dnf, point: Sequence[int]) -> bool:
    return any(all(atom.holds(point) for atom in cube) for cube in dnf)


def dnf_term(dnf: Dnf, names: Sequence[str]) -> Term:
    return disj(conj(atom.term(names) for atom in cube) for cube in dnf)


def all_term(formulas: Iterable[Dnf], names: Sequence[str]) -> Term:
    return conj(dnf_term(dnf, names) for dnf in formulas)
