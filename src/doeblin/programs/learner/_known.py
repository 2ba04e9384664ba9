"""What is proved already: what follows from it at once, and what of it says nothing new."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...linear import EQ, LE, NE, Atom, Dnf

Ranges = Sequence[tuple[int | None, int | None]]


def new_formulas(formulas: Sequence[Dnf], known: Sequence[Dnf], ranges: Ranges) -> list[Dnf]:
    """Those that neither are known nor follow from the known bounds on single variables."""
    have, box = set(known), Box(ranges, known)
    return [dnf for dnf in dict.fromkeys(formulas) if dnf not in have and not box.implies(dnf)]


class Box:
    """Bounds on single variables that are known to hold, and what follows from them alone."""

    def __init__(self, ranges: Ranges, known: Sequence[Dnf]):
        self._ends: list[dict[int, int]] = []  # by sign: the highest value, minus the lowest
        for low, high in ranges:
            self._ends.append({})
            if high is not None:
                self._ends[-1][1] = high
            if low is not None:
                self._ends[-1][-1] = -low
        for dnf in known:
            if len(dnf) == 1 and len(dnf[0]) == 1:
                self._add(dnf[0][0])

    def _add(self, atom: Atom) -> None:
        used = [(i, c) for i, c in enumerate(atom.coefficients) if abs(c) == 1]
        if len(used) != 1 or sum(map(abs, atom.coefficients)) != 1 or atom.modulus:
            return
        ((i, sign),) = used
        ends = self._ends[i]
        if atom.relation != NE:
            ends[sign] = min(atom.constant, ends.get(sign, atom.constant))
        if atom.relation == EQ:
            ends[-sign] = min(-atom.constant, ends.get(-sign, -atom.constant))

    def width(self, i: int) -> float:
        """How many values a variable can have."""
        ends = self._ends[i]
        return ends[1] + ends[-1] + 1 if len(ends) == 2 else math.inf

    def implies(self, dnf: Dnf) -> bool:
        """Does a disjunct of the formula hold everywhere in the box? (Bounds only.)"""
        return any(len(cube) == 1 and self._implies(cube[0]) for cube in dnf)

    def _implies(self, atom: Atom) -> bool:
        if atom.relation != LE or atom.modulus:
            return False
        total = 0
        for c, ends in zip(atom.coefficients, self._ends, strict=True):
            if c:
                end = ends.get(1 if c > 0 else -1)
                if end is None:
                    return False
                total += abs(c) * end
        return total <= atom.constant


def thin(formulas: list[Dnf]) -> list[Dnf]:
    """Without bounds that another bound on the same form implies."""
    tightest: dict[tuple[int, ...], int] = {}
    equal = set()
    for dnf in formulas:
        atom = _only(dnf)
        if atom is not None and atom.relation == LE:
            best = tightest.get(atom.coefficients)
            tightest[atom.coefficients] = (
                atom.constant if best is None else min(best, atom.constant)
            )
        elif atom is not None and atom.relation == EQ:
            equal.add(atom.coefficients)
            equal.add(tuple(-c for c in atom.coefficients))

    def implied(atom: Atom) -> bool:
        return atom.coefficients in equal or atom.constant > tightest[atom.coefficients]

    atoms = ((dnf, _only(dnf)) for dnf in formulas)
    return [dnf for dnf, a in atoms if a is None or a.relation != LE or not implied(a)]


def _only(dnf: Dnf) -> Atom | None:
    """The one linear atom that a formula is, if it is one."""
    if len(dnf) == 1 and len(dnf[0]) == 1 and not dnf[0][0].modulus:
        return dnf[0][0]
    return None
