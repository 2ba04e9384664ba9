"""Atoms `a·x ≤ b`, `= b`, `≠ b`, also modulo a constant, and formulas made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..system.terms import Term, add, compare, conj, const, disj, divide, mul, numeral, symbol, var

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


def dnf_text(dnf: Dnf, names: Sequence[str]) -> str:
    """A formula in SMT-LIB over these names."""
    cubes = []
    for cube in dnf:
        atoms = [_atom_text(atom, names) for atom in cube]
        cubes.append(atoms[0] if len(atoms) == 1 else f"(and true {' '.join(atoms)})")
    return cubes[0] if len(cubes) == 1 else f"(or false {' '.join(cubes)})"


def _atom_text(atom: Atom, names: Sequence[str]) -> str:
    parts = [
        symbol(n) if c == 1 else f"(* {numeral(c)} {symbol(n)})"
        for c, n in zip(atom.vector, names, strict=True)
        if c
    ]
    total = parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
    if atom.modulus:
        total = f"(mod {total} {atom.modulus})"
    if atom.relation == 2:
        return f"(not (= {total} {numeral(atom.constant)}))"
    return f"({'<=' if atom.relation == 0 else '='} {total} {numeral(atom.constant)})"


def dnf_size(dnf: Dnf) -> tuple[int, int, int]:
    """How long a formula is to read; for choosing the simplest."""
    atoms = [atom for cube in dnf for atom in cube]
    return (
        len(atoms),
        sum(sum(map(abs, a.vector)) + 2 * bool(a.modulus) for a in atoms),
        sum(abs(a.constant) for a in atoms),
    )
