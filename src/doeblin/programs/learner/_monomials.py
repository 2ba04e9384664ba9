"""Products as variables of their own: a system in which nothing is multiplied.

Polynomials are multiplied out, and each monomial becomes a variable of the clause, so that solvers
need linear arithmetic only. What is proved of such a system holds of the original; that monomials
depend on each other is forgotten.
"""

from __future__ import annotations

from dataclasses import replace

from ..system import System
from ..system.terms import Term, add, fold, ite, mul, rebuild, var

_MARK = "·"  # begins the name of a monomial
_LARGEST = 400  # parts of a product that is multiplied out


def linearised(system: System) -> System:
    """The system with monomials as variables."""
    clauses = tuple(
        replace(
            clause,
            constraint=_linear(clause.constraint),
            args=tuple(map(_linear, clause.args)),
        )
        for clause in system.clauses
    )
    return System(system.cuts, clauses, system.open)


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
