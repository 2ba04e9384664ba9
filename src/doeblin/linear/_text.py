"""Formulas for people and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ._atom import EQ, LE, Atom, Dnf

_FLIPPED = {"<=": ">=", "<": ">", "==": "==", "!=": "!="}
Names = Sequence[str]


class _Comparison(NamedTuple):
    """Two sides, each as terms (coefficient, variable) and a number; all coefficients positive."""

    left: list[tuple[int, str]]
    relation: str
    right: list[tuple[int, str]]
    constant: int


def dnf_people(dnf: Dnf, names: Names) -> str:
    """As people write it, and `Formula.parse` reads it; Python, too."""
    return _joined(dnf, names, _people_atom, (" or ", " and ", "True", "False"))


def dnf_latex(dnf: Dnf, names: Names) -> str:
    return _joined(dnf, names, _latex_atom, (r" \lor ", r" \land ", r"\top", r"\bot"))


def _joined(
    dnf: Dnf, names: Names, shown: Callable[[Atom, Names], str], words: tuple[str, str, str, str]
) -> str:
    """Atoms joined to disjuncts, in parentheses where several atoms meet several disjuncts."""
    or_, and_, true, false = words
    disjuncts = []
    for cube in dnf:
        text = and_.join(shown(atom, names) for atom in cube) or true
        disjuncts.append(f"({text})" if len(cube) > 1 and len(dnf) > 1 else text)
    return or_.join(disjuncts) or false


def _comparison(atom: Atom, names: Names) -> _Comparison:
    """The atom with positive coefficients on either side, the first variable on the left."""
    positive = [(a, v) for a, v in zip(atom.coefficients, names, strict=True) if a > 0]
    negative = [(-a, v) for a, v in zip(atom.coefficients, names, strict=True) if a < 0]
    relation, constant = str(atom.relation), atom.constant
    if positive and negative and relation == LE and constant == -1:
        relation, constant = "<", 0
    first = next(a for a in atom.coefficients if a)
    if first > 0:
        return _Comparison(positive, relation, negative, constant)
    return _Comparison(negative, _FLIPPED[relation], positive, -constant)


def _people_atom(atom: Atom, names: Names) -> str:
    if atom.modulus:
        terms = [(a, v) for a, v in zip(atom.coefficients, names, strict=True) if a]
        left = _sum(terms, 0)
        if len(terms) > 1 or terms[0][0] > 1:
            left = f"({left})"
        return f"{left} % {atom.modulus} {atom.relation} {atom.constant}"
    left, relation, right, constant = _comparison(atom, names)
    return f"{_sum(left, 0)} {relation} {_sum(right, constant)}"


def _sum(terms: list[tuple[int, str]], constant: int, times: str = "*") -> str:
    if not terms:
        return str(constant)
    text = " + ".join(v if a == 1 else f"{a}{times}{v}" for a, v in terms)
    return text + (f" {'+' if constant > 0 else '-'} {abs(constant)}" if constant else "")


def _latex_atom(atom: Atom, names: Names) -> str:
    named = [_latex_name(name) for name in names]
    if atom.modulus:
        terms = [(a, v) for a, v in zip(atom.coefficients, named, strict=True) if a]
        sign = r"\equiv" if atom.relation == EQ else r"\not\equiv"
        return f"{_sum(terms, 0, ' ')} {sign} {atom.constant} \\pmod{{{atom.modulus}}}"
    left, relation, right, constant = _comparison(atom, named)
    signs = {"<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne"}
    sign = signs.get(relation, relation)
    return f"{_sum(left, 0, ' ')} {sign} {_sum(right, constant, ' ')}"


def _latex_name(name: str) -> str:
    """`x12` as x_{12}; longer names upright, with what LaTeX would misread escaped."""
    parts = re.fullmatch(r"([A-Za-z]+?)_?(\d*)", name)
    if parts is None:
        escaped = re.sub(r"([_#$%&{}])", r"\\\1", name)
        return rf"\mathit{{{escaped}}}"
    letters, digits = parts.groups()
    base = letters if len(letters) == 1 else rf"\mathit{{{letters}}}"
    return f"{base}_{{{digits}}}" if digits else base
