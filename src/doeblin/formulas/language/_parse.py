"""Reading formulas: Boolean combinations of linear comparisons, turned into a DNF."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..._errors import InputError
from ...linear import Atom

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+)|(?P<name>[^\W\d]\w*'*)"
    r"|(?P<sign><=|>=|==|!=|&&|\|\||[-+*%()<>=!≤≥≠∧∨¬]))"
)
_SAME = {
    "≤": "<=", "≥": ">=", "≠": "!=", "=": "==", "&&": "and", "∧": "and", "||": "or", "∨": "or",
    "¬": "not", "!": "not", "true": "True", "false": "False",
}  # fmt: skip
_COMPARISONS = ("<=", ">=", "<", ">", "==", "!=")
_MOST_DISJUNCTS = 4096


@dataclass
class _Sum:
    """A linear expression; with `modulus` it is that expression modulo a number."""

    terms: dict[str, int] = field(default_factory=dict)
    constant: int = 0
    modulus: int = 0

    def plus(self, other: _Sum, factor: int = 1) -> _Sum:
        terms = dict(self.terms)
        for name, a in other.terms.items():
            terms[name] = terms.get(name, 0) + factor * a
        return _Sum(terms, self.constant + factor * other.constant)


# A parsed formula: ("and" | "or", parts), or a comparison (sum, relation) of a sum with zero.
_Tree = tuple


def parse(text: str, variables: Sequence[str] | None) -> tuple[list[str], list[list[Atom]]]:
    """The variables, by default those of the text, and the disjuncts."""
    reader = _Reader(text)
    tree = reader.disjunction()
    reader.end()
    names = sorted(reader.names) if variables is None else list(variables)
    unknown = reader.names - set(names)
    if unknown:
        raise InputError(
            f"unknown variable {min(unknown)!r} in {text!r}; the variables are {', '.join(names)}"
        )
    return names, _dnf(tree, names)


class _Reader:
    def __init__(self, text: str):
        self._text = text
        self._tokens: list[tuple[str, str, int]] = []
        self._next = 0
        self.names: set[str] = set()
        position = 0
        while text[position:].strip():
            found = _TOKEN.match(text, position)
            if found is None:
                position += len(text[position:]) - len(text[position:].lstrip())
                raise self._error(position, f"unexpected {text[position]!r}")
            kind = str(found.lastgroup)
            word = _SAME.get(found[kind], found[kind])
            if word in ("and", "or", "not", "True", "False"):
                kind = "sign"
            self._tokens.append((kind, word, found.start(kind)))
            position = found.end()

    def disjunction(self) -> _Tree:
        parts = [self._conjunction()]
        while self._take("or"):
            parts.append(self._conjunction())
        return ("or", parts)

    def end(self) -> None:
        if self._next < len(self._tokens):
            raise self._unexpected("expected 'and', 'or' or the end")

    def _conjunction(self) -> _Tree:
        parts = [self._literal()]
        while self._take("and"):
            parts.append(self._literal())
        return ("and", parts)

    def _literal(self) -> _Tree:
        if self._take("not"):
            return _negated(self._literal())
        if self._take("True"):
            return ("and", [])
        if self._take("False"):
            return ("or", [])
        start = self._next
        if self._peek() == "(":
            # A parenthesis opens a formula or a sum: try the formula, else read a comparison.
            try:
                self._take("(")
                inner = self.disjunction()
                if self._take(")") and self._peek() not in (*_COMPARISONS, "+", "-", "*", "%"):
                    return inner
            except InputError:
                pass
            self._next = start
        return self._comparison()

    def _comparison(self) -> _Tree:
        left, parts = self._sum(), []
        while self._peek() in _COMPARISONS:
            relation = self._word()
            right = self._sum()
            parts.append(self._compared(left, relation, right))
            left = right
        if not parts:
            raise self._unexpected("expected a comparison such as <= or ==")
        return ("and", parts)

    def _compared(self, left: _Sum, relation: str, right: _Sum) -> _Tree:
        if right.modulus and not left.modulus:
            left, right = right, left
            relation = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}.get(relation, relation)
        if left.modulus:
            if right.terms or right.modulus or relation not in ("==", "!="):
                raise self._unexpected(
                    "a remainder can only be compared by == or != with a number, before this"
                )
            if not 0 <= right.constant < left.modulus:
                return ("and" if relation == "!=" else "or", [])
            difference = _Sum(left.terms, left.constant - right.constant, left.modulus)
            return ("atom", difference, relation)
        if relation in (">", ">="):
            left, right, relation = right, left, "<" if relation == ">" else "<="
        difference = left.plus(right, -1)
        if relation == "<":
            difference.constant += 1
            relation = "<="
        return ("atom", difference, relation)

    def _sum(self) -> _Sum:
        total = self._term()
        while self._peek() in ("+", "-"):
            factor = 1 if self._word() == "+" else -1
            self._refuse_modulus(total)
            term = self._term()
            self._refuse_modulus(term)
            total = total.plus(term, factor)
        return total

    def _term(self) -> _Sum:
        product = self._factor()
        while self._peek() in ("*", "%"):
            sign = self._word()
            factor = self._factor()
            self._refuse_modulus(product)
            self._refuse_modulus(factor)
            if sign == "%":
                if factor.terms or factor.constant < 1:
                    raise self._unexpected("the modulus must be a positive number, before this")
                product = _Sum(product.terms, product.constant, factor.constant)
            elif factor.terms and product.terms:
                raise self._unexpected("products of variables are not linear, before this")
            else:
                number, terms = (product, factor) if factor.terms else (factor, product)
                product = _Sum().plus(terms, number.constant)
        return product

    def _factor(self) -> _Sum:
        if self._take("-"):
            inner = self._factor()
            self._refuse_modulus(inner)
            return _Sum().plus(inner, -1)
        if self._take("("):
            inner = self._sum()
            if not self._take(")"):
                raise self._unexpected("expected ')'")
            return inner
        kind = self._tokens[self._next][0] if self._next < len(self._tokens) else ""
        if kind == "number":
            return _Sum({}, int(self._word()))
        if kind == "name":
            name = self._word()
            self.names.add(name)
            return _Sum({name: 1})
        raise self._unexpected("expected a number or a variable")

    def _refuse_modulus(self, value: _Sum) -> None:
        if value.modulus:
            raise self._unexpected("a remainder must stand alone on its side, before this")

    def _peek(self) -> str | None:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else None

    def _word(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1][1]

    def _take(self, word: str) -> bool:
        found = self._peek() == word
        self._next += found
        return found

    def _unexpected(self, message: str) -> InputError:
        if self._next < len(self._tokens):
            return self._error(self._tokens[self._next][2], message)
        return self._error(len(self._text), f"{message}, but the text ends")

    def _error(self, position: int, message: str) -> InputError:
        return InputError(f"column {position + 1} of {self._text!r}: {message}")


def _negated(tree: _Tree) -> _Tree:
    if tree[0] == "atom":
        _, difference, relation = tree
        if relation == "<=":
            # not (s <= 0) is 1 - s <= 0
            return ("atom", _Sum({}, 1).plus(difference, -1), "<=")
        return ("atom", difference, "!=" if relation == "==" else "==")
    return ("or" if tree[0] == "and" else "and", [_negated(part) for part in tree[1]])


def _dnf(tree: _Tree, names: list[str]) -> list[list[Atom]]:
    if tree[0] == "atom":
        _, difference, relation = tree
        coefficients = tuple(difference.terms.get(name, 0) for name in names)
        return [[Atom(coefficients, relation, -difference.constant, difference.modulus)]]
    parts = [_dnf(part, names) for part in tree[1]]
    if tree[0] == "or":
        return [disjunct for part in parts for disjunct in part]
    product: list[list[Atom]] = [[]]
    for part in parts:
        if operator.mul(len(product), len(part)) > _MOST_DISJUNCTS:
            raise InputError(
                f"the formula has over {_MOST_DISJUNCTS} disjuncts when multiplied out"
            )
        product = [left + right for left in product for right in part]
    return product
