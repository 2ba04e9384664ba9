"""Products as coordinates: for programs that multiply variables, states gain their products.

A cut point with variables (n, i) becomes one with (n, i, n*n, n*i, i*i), where the clauses say
what the products are. What is learned there is linear in the new variables, hence quadratic.
With many variables only those products are taken that the program itself makes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

from ..system import Cut, Premise, System
from ..system.terms import Term, compare, conj, mul, postorder, substitute, var
from ._harvest import base_names, linear

_MOST_VARIABLES = 5


def multiplies(system: System) -> bool:
    """Does any clause multiply two things that are not constant?"""
    roots = [clause.constraint for clause in system.clauses]
    roots += [arg for clause in system.clauses for arg in clause.args]
    return any(
        node.op == "*" and not node.args[0].constant and not node.args[1].constant
        for node in postorder(*roots)
    )


def accumulates(system: System) -> bool:
    """Does any clause add a variable to another, as sums of changing numbers do? Their sizes are
    quadratic, though nothing is multiplied."""
    for clause in system.clauses:
        for term in clause.args if clause.premises else ():
            if any(len(form) > 1 for form, _ in linear(term, str)):
                return True
        for node in postorder(clause.constraint):
            if node.op == "=" and not node.args[0].boolean:
                sides = [linear(arg, str) for arg in node.args]
                if any(len({*a, *b}) > 2 for a, _ in sides[0] for b, _ in sides[1]):
                    return True
    return False


def with_products(system: System) -> System:
    """The same system with products of variables as further variables."""
    made = _made(system)
    pairs = [_pairs(cut, made) for cut in system.cuts]
    cuts = []
    for cut, products in zip(system.cuts, pairs, strict=True):
        names = tuple(_name(pair) for pair in products)
        cuts.append(
            replace(
                cut,
                variables=cut.variables + names,
                shown=cut.shown + names,
                ranges=cut.ranges + ((None, None),) * len(names),
                products=tuple(products),
            )
        )
    clauses = []
    for clause in system.clauses:
        constraint, args = clause.constraint, clause.args
        premises = tuple(
            _with_products(premise, system.cuts[premise.cut], pairs[premise.cut])
            for premise in clause.premises
        )
        for old, new in zip(clause.premises, premises, strict=True):
            value = dict(zip(system.cuts[old.cut].variables, map(var, old.names), strict=True))
            factors = [mul(value[a], value[b]) for a, b in pairs[old.cut]]
            made_of = zip(new.names[len(old.names) :], factors, strict=True)
            defined = [compare("=", var(name), product) for name, product in made_of]
            constraint = conj((constraint, *defined))
        if clause.target is not None:
            by_name = dict(zip(system.cuts[clause.target].variables, args, strict=True))
            args += tuple(mul(by_name[a], by_name[b]) for a, b in pairs[clause.target])
        clauses.append(replace(clause, premises=premises, constraint=constraint, args=args))
    return System(tuple(cuts), tuple(clauses))


def without_products(term: Term, wide: Cut) -> Term:
    """A formula over a cut with products, over its original variables again."""
    products = {_name((a, b)): mul(var(a), var(b)) for a, b in wide.products}
    return substitute(term, products) if products else term


def _with_products(premise: Premise, cut: Cut, pairs: list[tuple[str, str]]) -> Premise:
    name = dict(zip(cut.variables, premise.names, strict=True))
    return Premise(premise.cut, premise.names + tuple(_name((name[a], name[b])) for a, b in pairs))


def _name(pair: tuple[str, str]) -> str:
    """Of the variable for a product; nothing reads it, and no front end makes such a name."""
    return "*".join(pair)


def _made(system: System) -> set[frozenset[str]]:
    """The variables that the clauses multiply with each other."""
    roots = [clause.constraint for clause in system.clauses]
    roots += [arg for clause in system.clauses for arg in clause.args]
    bases = base_names(system)
    return {
        frozenset(bases.get(str(arg.leaf), str(arg.leaf)) for arg in node.args)
        for node in postorder(*roots)
        if node.op == "*" and all(arg.op == "var" for arg in node.args)
    }


def _pairs(cut: Cut, made: set[frozenset[str]]) -> list[tuple[str, str]]:
    pairs = list(combinations_with_replacement(cut.variables, 2))
    if len(cut.variables) <= _MOST_VARIABLES:
        return pairs
    return [pair for pair in pairs if frozenset(pair) in made]
