"""Simplification that never changes what a formula means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...linear import Atom, Dnf

Disjunct = frozenset[Atom]


@dataclass
class _Bounds:
    """What a conjunction says about one linear form: low ≤ a·x ≤ high, and values it avoids."""

    low: int | None = None
    high: int | None = None
    holes: set[int] = field(default_factory=set)

    def tightened(self) -> _Bounds | None:
        """With holes at the ends cut off; None when nothing is left."""
        low, high = self.low, self.high
        while low is not None and low in self.holes:
            low += 1
        while high is not None and high in self.holes:
            high -= 1
        if low is not None and high is not None and low > high:
            return None
        inner = {
            hole
            for hole in self.holes
            if (low is None or hole > low) and (high is None or hole < high)
        }
        return _Bounds(low, high, inner)


def simplified(dnf: Dnf) -> set[Disjunct]:
    """Implied atoms and disjuncts go; opposite pairs become `==` and `!=`. Always equivalent."""
    disjuncts = {tight for d in dnf if (tight := _tightened(d)) is not None}
    while True:
        merged = _merged(_unsubsumed(disjuncts))
        if merged == disjuncts:
            return disjuncts
        disjuncts = merged


def _tightened(atoms: Iterable[Atom]) -> Disjunct | None:
    """A conjunction with one interval for each linear form, or None where it cannot hold."""
    bounds: dict[tuple[int, ...], _Bounds] = {}
    kept: set[Atom] = set()
    for atom in atoms:
        if atom.modulus:
            if atom.negated()[0] in kept:
                return None
            kept.add(atom)
            continue
        sign = 1 if next(a for a in atom.coefficients if a) > 0 else -1
        form = tuple(sign * a for a in atom.coefficients)
        b = bounds.setdefault(form, _Bounds())
        value = sign * atom.constant
        if atom.relation == "!=":
            b.holes.add(value)
            continue
        if atom.relation == "==" or sign > 0:
            b.high = value if b.high is None else min(b.high, value)
        if atom.relation == "==" or sign < 0:
            b.low = value if b.low is None else max(b.low, value)
    for form, b in bounds.items():
        tight = b.tightened()
        if tight is None:
            return None
        kept.update(_as_atoms(form, tight))
    return frozenset(kept)


def _as_atoms(form: tuple[int, ...], bounds: _Bounds) -> list[Atom]:
    atoms = [Atom(form, "!=", hole) for hole in bounds.holes]
    if bounds.low is not None and bounds.low == bounds.high:
        return [Atom(form, "==", bounds.low)]
    if bounds.high is not None:
        atoms.append(Atom(form, "<=", bounds.high))
    if bounds.low is not None:
        atoms.append(Atom(tuple(-a for a in form), "<=", -bounds.low))
    return atoms


def _implies(stronger: Disjunct, weaker: Disjunct) -> bool:
    """Whether the first conjunction implies the second, judged form by form."""
    return all(
        atom in stronger or _tightened({*stronger, *atom.negated()}) is None for atom in weaker
    )


def _unsubsumed(disjuncts: set[Disjunct]) -> set[Disjunct]:
    kept: list[Disjunct] = []
    for disjunct in sorted(disjuncts, key=lambda d: (len(d), sorted(d))):
        if not any(_implies(disjunct, other) for other in kept):
            kept = [other for other in kept if not _implies(other, disjunct)]
            kept.append(disjunct)
    return set(kept)


def _merged(disjuncts: set[Disjunct]) -> set[Disjunct]:
    """Two disjuncts that differ in one atom only become one where their union is one atom."""
    ordered = sorted(disjuncts, key=lambda d: (len(d), sorted(d)))
    for i, first in enumerate(ordered):
        for second in ordered[:i]:
            common = first & second
            if len(first - common) == 1 and len(second - common) == 1:
                (a,), (b,) = first - common, second - common
                union = _union(a, b)
                if union is not None:
                    tight = _tightened(common | union)
                    rest = disjuncts - {first, second}
                    return _merged(rest | ({tight} if tight is not None else set()))
    return disjuncts


def _union(a: Atom, b: Atom) -> Disjunct | None:
    """`a or b` as at most one atom: `s <= 2 or s >= 4` is `s != 3`; complements are True."""
    if a.negated() == (b,):
        return frozenset()
    if a.modulus or b.modulus:
        return None
    opposite = tuple(-c for c in b.coefficients)
    if a.relation == b.relation == "<=" and a.coefficients == opposite:
        # s <= high or s >= low
        high, low = a.constant, -b.constant
        if low <= high + 1:
            return frozenset()
        if low == high + 2:
            return frozenset({Atom(a.coefficients, "!=", high + 1)})
    for equality, bound in ((a, b), (b, a)):
        if equality.relation == "==" and bound.relation == "<=":
            for sign in (1, -1):
                if bound.coefficients == tuple(sign * c for c in equality.coefficients):
                    value = sign * equality.constant
                    if value == bound.constant + 1:
                        return frozenset({Atom(bound.coefficients, "<=", value)})
    return None
