"""Linear formulas as terms, and as the text that solvers are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...linear import EQ, LE, Atom, Dnf, atom_smtlib
from ..system.terms import Term, add, compare, conj, const, disj, divide, mul, var


def atom_term(atom: Atom, names: Sequence[str]) -> Term:
    """With positive coefficients on both sides, for people to read."""
    pairs = list(zip(atom.coefficients, names, strict=True))
    if atom.modulus:
        total = add(*(mul(const(c), var(n)) for c, n in pairs))
        left, right = divide("mod", total, const(atom.modulus)), const(atom.constant)
    else:
        left = add(*(mul(const(c), var(n)) for c, n in pairs if c > 0))
        right = add(*(mul(const(-c), var(n)) for c, n in pairs if c < 0))
        if left.constant:
            left = add(left, const(-atom.constant))
        else:
            right = add(right, const(atom.constant))
    sign = "<=" if atom.relation == LE else "=" if atom.relation == EQ else "!="
    return compare(sign, left, right)


def dnf_term(dnf: Dnf, names: Sequence[str]) -> Term:
    return disj(conj(atom_term(atom, names) for atom in cube) for cube in dnf)


def all_term(formulas: Iterable[Dnf], names: Sequence[str]) -> Term:
    return conj(dnf_term(dnf, names) for dnf in formulas)


def dnf_text(dnf: Dnf, names: Sequence[str]) -> str:
    """A formula in SMT-LIB over these names; every cube and the whole have a unit to begin with,
    so that lists of any length are the same to write."""
    cubes = []
    for cube in dnf:
        atoms = [atom_smtlib(atom, names) for atom in cube]
        cubes.append(atoms[0] if len(atoms) == 1 else f"(and true {' '.join(atoms)})")
    return cubes[0] if len(cubes) == 1 else f"(or false {' '.join(cubes)})"
