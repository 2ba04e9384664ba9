"""Polynomials over a prime field, from terms and back to terms with integer coefficients.

A monomial is the sorted tuple of its factors, a polynomial a dictionary from monomials to residues.
The prime is so large that residues of small rationals are told apart; what is found is only ever a
candidate, so an accident costs time and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from ..system.terms import Term, add, compare, const, divide, mul, postorder, texts, var

PRIME = (1 << 31) - 1
_LARGEST = math.isqrt(PRIME // 2)  # of a numerator or denominator that a residue may stand for
_MOST_TERMS = 600
_MOST_FACTORS = 64  # of a monomial; squaring again and again doubles them

Monomial = tuple[str, ...]
Polynomial = dict[Monomial, int]
ONE: Monomial = ()


class TooManyTerms(Exception):
    """A product grew beyond what is worth looking at: in terms, or in factors of one."""


def order(monomial: Monomial) -> tuple[int, Monomial]:
    """By degree, then by names: an order that products keep."""
    return len(monomial), monomial


def lead(polynomial: Polynomial) -> Monomial:
    """Its highest monomial."""
    return max(polynomial, key=order)


def degree(polynomial: Polynomial) -> int:
    return max(map(len, polynomial), default=0)


def times(left: Polynomial, right: Polynomial) -> Polynomial:
    found: Polynomial = {}
    if left and right and degree(left) + degree(right) > _MOST_FACTORS:
        raise TooManyTerms
    for one, a in left.items():
        for two, b in right.items():
            product = tuple(sorted(one + two))
            found[product] = (found.get(product, 0) + a * b) % PRIME
        if len(found) > _MOST_TERMS:
            raise TooManyTerms
    return {m: c for m, c in found.items() if c}


def add_to(total: Polynomial, other: Mapping[Monomial, int], factor: int = 1) -> None:
    """Add a multiple of a polynomial to one, in place."""
    for monomial, c in other.items():
        value = (total.get(monomial, 0) + factor * c) % PRIME
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)


class Images:
    """What becomes of monomials, and of polynomials, when variables are replaced."""

    def __init__(self, values: Mapping[str, Polynomial]):
        self._values = values
        self._known: dict[Monomial, Polynomial] = {ONE: {ONE: 1}}

    def of(self, polynomial: Polynomial) -> Polynomial:
        found: Polynomial = {}
        for monomial, c in polynomial.items():
            add_to(found, self._monomial(monomial), c)
        return found

    def _monomial(self, monomial: Monomial) -> Polynomial:
        if monomial not in self._known:
            last = monomial[-1]
            value = self._values.get(last, {(last,): 1})
            self._known[monomial] = times(self._monomial(monomial[:-1]), value)
        return self._known[monomial]


Quotient = Callable[[str, Term, Term], str]
"""A name for what a division gives: how it rounds, what is divided, by what."""


def polynomial_of(term: Term, quotient: Quotient | None = None) -> Polynomial | None:
    """The polynomial that a term is. A quotient is a variable of its own, and a remainder what is
    left beside it; without names for quotients, a term with divisions is none."""
    values: dict[int, Polynomial | None] = {}
    for node in postorder(term):
        values[id(node)] = _node(node, [values[id(arg)] for arg in node.args], quotient)
    return values[id(term)]


def _node(
    node: Term, args: list[Polynomial | None], quotient: Quotient | None
) -> Polynomial | None:
    if node.boolean:
        return None
    if node.op == "const":
        value = node.leaf % PRIME
        return {ONE: value} if value else {}
    if node.op == "var":
        return {(node.leaf,): 1}
    if any(arg is None for arg in args):
        return None
    if node.op == "+":
        found: Polynomial = {}
        for arg in args:
            add_to(found, arg or {})
        return found
    if node.op == "*":
        return times(args[0] or {}, args[1] or {})
    if node.op in ("div", "mod", "tdiv", "trem") and quotient is not None:
        rounding = "t" if node.op in ("tdiv", "trem") else "e"
        whole: Polynomial = {(quotient(rounding, *node.args),): 1}
        if node.op in ("div", "tdiv"):
            return whole
        rest = dict(args[0] or {})
        add_to(rest, times(args[1] or {}, whole), -1)
        return rest
    return None


def comparisons(terms: Iterable[Term]) -> list[tuple[str, Term, Term]]:
    """All comparisons of integers in some terms, once each."""
    terms = tuple(terms)
    found, known = {}, texts(*terms)
    for node in postorder(*terms):
        if node.op in ("<=", "<", "=") and not node.args[0].boolean:
            found[known[id(node)]] = (node.op, node.args[0], node.args[1])
    return list(found.values())


def rational(residue: int) -> tuple[int, int] | None:
    """The fraction with small numerator and denominator that a residue stands for."""
    a, b, x, y = PRIME, residue % PRIME, 0, 1
    while b > _LARGEST:
        a, b, x, y = b, a % b, y, x - (a // b) * y
    if abs(y) > _LARGEST or not y:
        return None
    return (b, y) if y > 0 else (-b, -y)


def integral(polynomial: Polynomial) -> dict[Monomial, int] | None:
    """The same over the integers, without a common divisor; None if no small numbers will do."""
    scale = pow(polynomial[lead(polynomial)], -1, PRIME)
    fractions = {m: rational(c * scale) for m, c in polynomial.items()}
    if any(fraction is None for fraction in fractions.values()):
        return None
    known = {m: fraction for m, fraction in fractions.items() if fraction is not None}
    common = math.lcm(*(denominator for _, denominator in known.values()))
    found = {m: n * (common // d) for m, (n, d) in known.items()}
    divisor = math.gcd(*found.values())
    return {m: c // divisor for m, c in found.items()}


def value_at(polynomial: Mapping[Monomial, int], point: Mapping[str, int]) -> int:
    """Exactly."""
    return sum(c * math.prod(point[name] for name in m) for m, c in polynomial.items())


def equation(polynomial: Mapping[Monomial, int]) -> Term:
    """That it is zero, with positive coefficients on both sides, for people to read."""
    ordered = sorted(polynomial.items(), key=lambda item: order(item[0]), reverse=True)
    left = [_term(c, m) for m, c in ordered if c > 0]
    right = [_term(-c, m) for m, c in ordered if c < 0]
    return compare("=", add(*left), add(*right))


def _term(coefficient: int, monomial: Monomial) -> Term:
    product = None
    for name in monomial:
        product = var(name) if product is None else mul(product, var(name))
    return const(coefficient) if product is None else mul(const(coefficient), product)


def remainder_of(rounding: str, left: Term, right: Term) -> Term:
    """What a division leaves."""
    return divide("trem" if rounding == "t" else "mod", left, right)
