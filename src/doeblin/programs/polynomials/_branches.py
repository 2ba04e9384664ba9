"""The ways through a clause: in each of them, the next state is polynomials in the last one.

Where values depend on conditions, each outcome is a way of its own, as far as the solver does not
exclude it. Equations that hold on a way, and remainders that have one value only, are collected:
they say what polynomials alone would not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..system import Clause, Premise, System
from ..system.terms import (
    Term,
    add,
    compare,
    conj,
    const,
    fold,
    negate,
    postorder,
    rebuild,
    sub,
)
from ._ring import (
    PRIME,
    Images,
    Monomial,
    Polynomial,
    TooManyTerms,
    add_to,
    polynomial_of,
    remainder_of,
)

_MOST_BRANCHES = 48
_MOST_NODES = 2000
_MOST_GUARDS = 6

Holds = Callable[[Sequence[Term], Term], bool]
"""Do some facts imply another, as far as the solver says at once?"""


@dataclass(frozen=True)
class Branch:
    """A way: its condition and the next state as terms, polynomials that are zero on it, and those
    that the next state is."""

    constraint: Term
    terms: tuple[Term, ...]
    equations: tuple[Polynomial, ...]
    args: tuple[Polynomial, ...]
    solved: dict[str, Polynomial] = field(default_factory=dict)

    @cached_property
    def _images(self) -> Images:
        return Images(self.solved)

    def seen(self, polynomial: Polynomial) -> Polynomial:
        """In the variables that are left when linear equations are solved."""
        return self._images.of(polynomial)

    @staticmethod
    def given(
        premise: Premise, space: Sequence[Polynomial], system: System
    ) -> Sequence[Polynomial]:
        """What is zero at a cut, said of the premise's variables."""
        names = system.cuts[premise.cut].variables
        if names == premise.names:
            return space
        renamed = Images({a: {(b,): 1} for a, b in zip(names, premise.names, strict=True)})
        return [renamed.of(p) for p in space]


def branches_of(clause: Clause, facts: Sequence[Term], holds: Holds) -> list[Branch] | None:
    """The ways through a clause, where `facts` are known of its premises; None: too many."""
    if sum(1 for _ in postorder(clause.constraint, *clause.args)) > _MOST_NODES:
        return None
    found: list[Branch] = []
    todo: list[tuple[Term, tuple[Term, ...]]] = [(clause.constraint, clause.args)]
    while todo:
        constraint, args = todo.pop()
        condition = _condition(args)
        if condition is not None:
            for truth in (condition, negate(condition)):
                both = conj((constraint, truth))
                if not holds([*facts, constraint], negate(truth)):
                    positive = truth is condition
                    todo.append((both, tuple(_chosen(a, condition, positive) for a in args)))
            if len(todo) + len(found) > _MOST_BRANCHES:
                return None
            continue
        try:
            found.append(_branch(constraint, args, facts, holds))
        except TooManyTerms:
            return None
    return found


def _condition(args: Sequence[Term]) -> Term | None:
    """A condition on which a value depends, and which itself depends on none."""
    for node in postorder(*args):
        if node.op == "ite":
            return node.args[0]
    return None


def _chosen(term: Term, condition: Term, positive: bool) -> Term:
    """The term where the condition is known."""
    text = repr(condition)

    def combine(node: Term, args: list[Term]) -> Term:
        if node.op == "ite" and (node.args[0] is condition or repr(node.args[0]) == text):
            return args[1] if positive else args[2]
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        return rebuild(node, args)

    return fold(term, combine)


def _branch(constraint: Term, args: Sequence[Term], facts: Sequence[Term], holds: Holds) -> Branch:
    quotients: dict[tuple[str, str, str], tuple[str, Term, Term]] = {}

    def quotient(rounding: str, left: Term, right: Term) -> str:
        key = (rounding, repr(left), repr(right))
        quotients[key] = (rounding, left, right)
        return f"{key[1]} /{rounding} {key[2]}"

    values: list[Polynomial] = []
    for number, arg in enumerate(args):
        value = polynomial_of(arg, quotient)
        # What is no polynomial may be anything.
        values.append({(f"?{number}",): 1} if value is None else value)
    path = [*facts, *_parts(constraint)]
    equal = [part.args for part in _parts(constraint) if part.op == "="]
    equal += [(a, b) for a, b in _guards(constraint) if holds(path, compare("=", a, b))]
    equations = []
    for left, right in equal:
        value = None if left.boolean else polynomial_of(sub(left, right), quotient)
        if value:
            equations.append(value)
    for rounding, left, right in list(quotients.values()):
        rest = remainder_of(rounding, left, right)
        if right.constant and 1 < abs(right.leaf) <= 8:
            for number in range(abs(right.leaf)):
                if holds(path, compare("=", rest, const(number))):
                    value = polynomial_of(sub(rest, const(number)), quotient)
                    equations += [value] if value else []
                    break
    rest, solved = _solved(equations)
    return Branch(constraint, tuple(args), tuple(rest), tuple(values), solved)


def _parts(term: Term) -> tuple[Term, ...]:
    return term.args if term.op == "and" else (term,)


def _guards(constraint: Term) -> list[tuple[Term, Term]]:
    """Pairs that an inequality on the way may make equal, beside what is known."""
    found = []
    for part in _parts(constraint):
        if part.op in ("<=", "<"):
            left, right = part.args
            if not (left.constant or right.constant):
                found.append((left if part.op == "<=" else add(left, const(1)), right))
    return found[:_MOST_GUARDS]


def _solved(equations: list[Polynomial]) -> tuple[list[Polynomial], dict[str, Polynomial]]:
    """Those that cannot be solved for a variable, and the values of variables from the others."""
    solved: dict[str, Polynomial] = {}
    rest: list[Polynomial] = []
    todo = list(equations)
    while todo:
        one = Images(solved).of(todo.pop(0))
        name = _solvable(one)
        if name is None:
            rest += [one] if one else []
            continue
        scale = -pow(one[(name,)], -1, PRIME) % PRIME
        value: Polynomial = {}
        add_to(value, {m: c for m, c in one.items() if m != (name,)}, scale)
        here = Images({name: value})
        solved = {n: here.of(p) for n, p in solved.items()} | {name: value}
        todo += rest
        rest = []
    return rest, solved


def _solvable(polynomial: Polynomial) -> str | None:
    """A variable that an equation gives as a polynomial in others."""
    elsewhere = {name for m in polynomial if len(m) > 1 for name in m}
    alone: list[Monomial] = [m for m in polynomial if len(m) == 1 and m[0] not in elsewhere]
    return max(alone)[0] if alone else None
