"""Products as coordinates: for programs that multiply variables, states gain their products.

A cut point with variables (n, i) becomes one with (n, i, n*n, n*i, i*i), where the clauses say
what the products are. What is learned there is linear in the new variables, hence quadratic.
With many variables only those products are taken that the program itself makes.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

from ..flow import Clause, Cut, System
from ..terms import Term, compare, conj, mul, postorder, substitute, var, variables
from ._harvest import base_name

_MOST_VARIABLES = 5


def multiplies(system: System) -> bool:
    """Does any clause multiply two things that are not constant?"""
    roots = [clause.constraint for clause in system.clauses]
    roots += [arg for clause in system.clauses for arg in clause.args]
    return any(
        node.op == "*" and not node.args[0].constant and not node.args[1].constant
        for node in postorder(*roots)
    )


def with_products(system: System) -> System:
    """The same system with products of variables as further variables."""
    made = _made(system)
    pairs = [_pairs(cut, made) for cut in system.cuts]
    cuts = []
    for cut, products in zip(system.cuts, pairs, strict=True):
        names = tuple(f"{a}*{b}" for a, b in products)
        cuts.append(
            Cut(
                cut.name,
                cut.variables + names,
                cut.shown + names,
                cut.ranges + ((None, None),) * len(names),
                cut.place,
                cut.block,
            )
        )
    clauses = []
    for clause in system.clauses:
        constraint, args = clause.constraint, clause.args
        if clause.source is not None:
            defined = [
                compare("=", var(f"{a}*{b}"), mul(var(a), var(b))) for a, b in pairs[clause.source]
            ]
            constraint = conj((constraint, *defined))
        if clause.target is not None:
            by_name = dict(zip(system.cuts[clause.target].variables, args, strict=True))
            args += tuple(mul(by_name[a], by_name[b]) for a, b in pairs[clause.target])
        clauses.append(
            Clause(clause.source, constraint, clause.target, args, clause.inputs, clause.place)
        )
    return System(tuple(cuts), tuple(clauses))


def without_products(term: Term, cut: Cut) -> Term:
    """A formula over the original variables again."""
    used = variables(term) - set(cut.variables)
    pairs = combinations_with_replacement(cut.variables, 2)
    products = {f"{a}*{b}": mul(var(a), var(b)) for a, b in pairs if f"{a}*{b}" in used}
    return substitute(term, products) if products else term


def _made(system: System) -> set[frozenset[str]]:
    """The variables that the clauses multiply with each other."""
    roots = [clause.constraint for clause in system.clauses]
    roots += [arg for clause in system.clauses for arg in clause.args]
    return {
        frozenset(base_name(arg.leaf) for arg in node.args)
        for node in postorder(*roots)
        if node.op == "*" and all(arg.op == "var" for arg in node.args)
    }


def _pairs(cut: Cut, made: set[frozenset[str]]) -> list[tuple[str, str]]:
    pairs = list(combinations_with_replacement(cut.variables, 2))
    if len(cut.variables) <= _MOST_VARIABLES:
        return pairs
    return [pair for pair in pairs if frozenset(pair) in made]
