"""Products as coordinates: for programs that multiply variables, states gain their products.

A cut point with variables (n, i) becomes one with (n, i, n*n, n*i, i*i), where the clauses say
what the products are. What is learned there is linear in the new variables, hence quadratic.
With many variables only those products are taken that the program itself makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations_with_replacement

from ..system import Cut, Premise, System
from ..system.terms import (
    Term,
    compare,
    conj,
    const,
    implies,
    mul,
    postorder,
    substitute,
    var,
    variables,
)
from ._harvest import base_names, linear

_MOST_VARIABLES = 5
_PLACES = 4  # that an index is compared with
_UNITS = (0, 1, -1)  # and these, always


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


def with_products(
    system: System, wanted: Callable[[Cut], list[tuple[str, ...]]] | None = None
) -> System:
    """The same system with products of variables as further variables: those `wanted`, or all pairs
    where these are few."""
    made = _made(system) if wanted is None else set()
    pairs = [wanted(cut) if wanted is not None else _pairs(cut, made) for cut in system.cuts]
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
        defined = _definitions(constraint, clause.premises)
        premises = tuple(
            _with_products(premise, system.cuts[premise.cut], pairs[premise.cut])
            for premise in clause.premises
        )
        for old, new in zip(clause.premises, premises, strict=True):
            # What an index is made of is multiplied out, so that equal monomials are seen to be.
            known = [defined.get(name, var(name)) for name in old.names]
            value = dict(zip(system.cuts[old.cut].variables, known, strict=True))
            factors = [reduce(mul, (value[n] for n in parts)) for parts in pairs[old.cut]]
            made_of = zip(new.names[len(old.names) :], factors, strict=True)
            stated = [compare("=", var(name), product) for name, product in made_of]
            constraint = conj((constraint, *stated))
        if clause.target is not None:
            by_name = dict(zip(system.cuts[clause.target].variables, args, strict=True))
            made_here = pairs[clause.target]
            args += tuple(reduce(mul, (by_name[n] for n in parts)) for parts in made_here)
            cells = system.cuts[clause.target].cells
            if cells is not None:
                alike = _alike(cells.at, by_name, made_here, (constraint, *args))
                constraint = conj((constraint, *alike))
        clauses.append(replace(clause, premises=premises, constraint=constraint, args=args))
    return System(tuple(cuts), tuple(clauses))


def _alike(
    at: str, state: dict[str, Term], pairs: list[tuple[str, ...]], terms: Sequence[Term]
) -> list[Term]:
    """Where the index may be another number, the products that the index is in are those with that
    number: true, and not seen by solvers that take products for variables."""
    found: dict[str, Term] = {}
    for node in postorder(*terms):
        for this, other in (node.args, node.args[::-1]) if node.op == "=" else ():
            if this.op == "var" and this.leaf == at and not other.boolean:
                found.setdefault(repr(other), other)
    stated = []
    for number in (*(const(c) for c in _UNITS), *list(found.values())[:_PLACES]):
        moved = state | {at: number}
        equal = [
            compare("=", *(reduce(mul, (values[n] for n in parts)) for values in (state, moved)))
            for parts in pairs
            if at in parts
        ]
        stated.append(implies(compare("=", var(at), number), conj(equal)))
    return stated


def _definitions(constraint: Term, premises: Sequence[Premise]) -> dict[str, Term]:
    """The variables of further premises that a clause says what they are."""
    first = set(premises[0].names) if premises else set()
    names = {name for premise in premises[1:] for name in premise.names} - first
    found: dict[str, Term] = {}
    for part in constraint.args if constraint.op == "and" else ():
        named = part.op == "=" and part.args[0].op == "var" and part.args[0].leaf in names
        if named and not variables(part.args[1]) & names:
            found.setdefault(part.args[0].leaf, part.args[1])
    return found


def without_products(term: Term, wide: Cut) -> Term:
    """A formula over a cut with products, over its original variables again."""
    products = {_name(parts): reduce(mul, map(var, parts)) for parts in wide.products}
    return substitute(term, products) if products else term


def _with_products(premise: Premise, cut: Cut, pairs: list[tuple[str, ...]]) -> Premise:
    name = dict(zip(cut.variables, premise.names, strict=True))
    made = tuple(_name(tuple(name[n] for n in parts)) for parts in pairs)
    return Premise(premise.cut, premise.names + made)


def _name(pair: tuple[str, ...]) -> str:
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


def _pairs(cut: Cut, made: set[frozenset[str]]) -> list[tuple[str, ...]]:
    pairs: list[tuple[str, ...]] = list(combinations_with_replacement(cut.variables, 2))
    if len(cut.variables) <= _MOST_VARIABLES:
        return pairs
    return [pair for pair in pairs if frozenset(pair) in made]
