"""Products as variables of their own: a system in which nothing is multiplied.

Polynomials are multiplied out, and each monomial becomes a variable of the clause, so that solvers
need linear arithmetic only. What is proved of such a system holds of the original. Of how monomials
depend on each other only this is kept: where two variables are equal, so are monomials that differ
in these, and a monomial is zero where one of its variables is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, islice

from ..system import Clause, System
from ..system.terms import (
    ZERO,
    Term,
    add,
    compare,
    conj,
    fold,
    implies,
    ite,
    mul,
    rebuild,
    var,
    variables,
)
from ._harvest import base_names

_MARK = "·"  # begins the name of a monomial
_FACTS = 150  # about monomials, in a clause
_LARGEST = 400  # parts of a product that is multiplied out


def linearised(system: System) -> System:
    """The system with monomials as variables."""
    clauses = tuple(_Monomials().without(clause) for clause in system.clauses)
    return System(system.cuts, clauses, system.open)


def monomials(system: System) -> set[tuple[str, ...]]:
    """Those of the clauses, over the variables of cuts; none is linear."""
    bases, found = base_names(system), set()
    for clause in system.clauses:
        made = _Monomials()
        made.without(clause)
        found |= {tuple(bases.get(name, name) for name in parts) for parts in made.used.values()}
    return found


class _Monomials:
    """The monomials of a clause, by the names of their variables."""

    def __init__(self) -> None:
        self.used: dict[str, list[str]] = {}
        self._made: dict[str, list[str]] = {}

    def without(self, clause: Clause) -> Clause:
        """The clause with monomials as variables."""
        constraint, args = self._linear(clause.constraint), tuple(map(self._linear, clause.args))
        names = sorted(self._made.keys() & variables(constraint, *args))
        self.used = {name: self._made[name] for name in names}
        if self.used:
            constraint = conj((constraint, *islice(self._facts(), _FACTS)))
        return replace(clause, constraint=constraint, args=args)

    def _facts(self) -> Iterable[Term]:
        """How monomials depend on each other."""
        for (one, first), (other, second) in combinations(self.used.items(), 2):
            left, right = list(first), list(second)
            for name in first:
                if name in right:
                    left.remove(name)
                    right.remove(name)
            if len(left) == len(right) == 1:
                same = compare("=", var(left[0]), var(right[0]))
                yield implies(same, compare("=", var(one), var(other)))
        for one, parts in self.used.items():
            for name in dict.fromkeys(parts):
                yield implies(compare("=", var(name), ZERO), compare("=", var(one), ZERO))

    def _linear(self, term: Term) -> Term:
        def combine(node: Term, args: list[Term]) -> Term:
            if node.op == "*" and not any(arg.constant for arg in args):
                return self._product(args[0], args[1], [0])
            if all(new is old for new, old in zip(args, node.args, strict=True)):
                return node
            return rebuild(node, args)

        return fold(term, combine)

    def _product(self, left: Term, right: Term, size: list[int]) -> Term:
        size[0] += 1
        if left.constant or right.constant or size[0] > _LARGEST:
            return mul(left, right)
        for one, other in ((left, right), (right, left)):
            if one.op == "+":
                return add(*(self._product(part, other, size) for part in one.args))
            if one.op == "ite":
                condition, yes, no = one.args
                sides = (self._product(side, other, size) for side in (yes, no))
                return ite(condition, *sides)
            if one.op == "*" and one.args[0].constant:
                return mul(one.args[0], self._product(one.args[1], other, size))
        if left.op == right.op == "var":
            return self._monomial(left.leaf, right.leaf)
        return mul(left, right)

    def _monomial(self, *names: str) -> Term:
        parts = sorted(part for name in names for part in self._made.get(name, [name]))
        # Doubled where a name has one itself, so that no two monomials have one name.
        made = "".join(_MARK + part.replace(_MARK, 2 * _MARK) for part in parts)
        self._made[made] = parts
        return var(made)
