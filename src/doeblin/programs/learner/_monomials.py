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
    return System(system.cuts, tuple(map(_without, system.clauses)), system.open)


def monomials(system: System) -> set[tuple[str, ...]]:
    """Those of the clauses, over the variables of cuts; none is linear."""
    bases, found = base_names(system), set()
    for clause in system.clauses:
        flat = _without(clause)
        for name in variables(flat.constraint, *flat.args):
            if name.startswith(_MARK):
                found.add(tuple(bases.get(part, part) for part in _factors(name)))
    return found


def _without(clause: Clause) -> Clause:
    """The clause with monomials as variables."""
    constraint, args = _linear(clause.constraint), tuple(map(_linear, clause.args))
    made = sorted(name for name in variables(constraint, *args) if name.startswith(_MARK))
    if made:
        constraint = conj((constraint, *islice(_facts(made), _FACTS)))
    return replace(clause, constraint=constraint, args=args)


def _facts(monomials: list[str]) -> Iterable[Term]:
    """How monomials depend on each other."""
    for one, other in combinations(monomials, 2):
        left, right = _factors(one), _factors(other)
        for name in _factors(one):
            if name in right:
                left.remove(name)
                right.remove(name)
        if len(left) == len(right) == 1:
            same = compare("=", var(left[0]), var(right[0]))
            yield implies(same, compare("=", var(one), var(other)))
    for one in monomials:
        for name in dict.fromkeys(_factors(one)):
            yield implies(compare("=", var(name), ZERO), compare("=", var(one), ZERO))


def _linear(term: Term) -> Term:
    def combine(node: Term, args: list[Term]) -> Term:
        if node.op == "*" and not any(arg.constant for arg in args):
            return _product(args[0], args[1], [0])
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        return rebuild(node, args)

    return fold(term, combine)


def _product(left: Term, right: Term, size: list[int]) -> Term:
    size[0] += 1
    if left.constant or right.constant or size[0] > _LARGEST:
        return mul(left, right)
    for one, other in ((left, right), (right, left)):
        if one.op == "+":
            return add(*(_product(part, other, size) for part in one.args))
        if one.op == "ite":
            condition, yes, no = one.args
            return ite(condition, _product(yes, other, size), _product(no, other, size))
        if one.op == "*" and one.args[0].constant:
            return mul(one.args[0], _product(one.args[1], other, size))
    if left.op == right.op == "var":
        return var(_MARK + _MARK.join(sorted([*_factors(left.leaf), *_factors(right.leaf)])))
    return mul(left, right)


def _factors(name: str) -> list[str]:
    return name[1:].split(_MARK) if name.startswith(_MARK) else [name]
