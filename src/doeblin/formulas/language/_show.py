"""Formulas as text: for people, Python, SMT-LIB and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..._errors import InputError
from ._formula import Atom, Formula

_FLIPPED = {"<=": ">=", "<": ">", "==": "==", "!=": "!="}


class _Comparison(NamedTuple):
    """Two sides, each as terms (coefficient, variable) and a number; all coefficients positive."""

    left: list[tuple[int, str]]
    relation: str
    right: list[tuple[int, str]]
    constant: int


def people(formula: Formula) -> str:
    return _joined(formula, _people_atom, " or ", " and ", "True", "False")


def python(formula: Formula, name: str) -> str:
    for word in (name, *formula.variables):
        if not word.isidentifier():
            raise InputError(f"{word!r} is not a name in Python; rename the variable")
    return f"def {name}({', '.join(formula.variables)}):\n    return {people(formula)}\n"


def latex(formula: Formula) -> str:
    return _joined(formula, _latex_atom, r" \lor ", r" \land ", r"\top", r"\bot")


def smtlib(formula: Formula, name: str) -> str:
    parameters = " ".join(f"({_symbol(variable)} Int)" for variable in formula.variables)
    disjuncts = [
        _application("and", [_smt_atom(atom, formula.variables) for atom in disjunct], "true")
        for disjunct in _sorted(formula)
    ]
    body = _application("or", disjuncts, "false")
    return f"(define-fun {_symbol(name)} ({parameters}) Bool {body})"


def _joined(
    formula: Formula,
    shown: Callable[[Atom, tuple[str, ...]], str],
    or_: str,
    and_: str,
    true: str,
    false: str,
) -> str:
    """Atoms joined to disjuncts, in parentheses where several atoms meet several disjuncts."""
    disjuncts = []
    for disjunct in _sorted(formula):
        text = and_.join(shown(atom, formula.variables) for atom in disjunct) or true
        several = len(disjunct) > 1 and len(formula.disjuncts) > 1
        disjuncts.append(f"({text})" if several else text)
    return or_.join(disjuncts) or false


def _sorted(formula: Formula) -> list[list[Atom]]:
    """Short before long, then by the variables that appear first."""

    def by_variables(atom: Atom):
        used = [k for k, a in enumerate(atom.coefficients) if a]
        return used, len(used), atom.relation, -atom.constant, atom

    disjuncts = [sorted(disjunct, key=by_variables) for disjunct in formula.disjuncts]
    return sorted(disjuncts, key=lambda d: (len(d), [by_variables(atom) for atom in d]))


def _comparison(atom: Atom, variables: tuple[str, ...]) -> _Comparison:
    """The atom with positive coefficients on either side, the first variable on the left."""
    positive = [(a, v) for a, v in zip(atom.coefficients, variables, strict=True) if a > 0]
    negative = [(-a, v) for a, v in zip(atom.coefficients, variables, strict=True) if a < 0]
    relation, constant = str(atom.relation), atom.constant
    if positive and negative and relation == "<=" and constant == -1:
        relation, constant = "<", 0
    first = next(a for a in atom.coefficients if a)
    if first > 0:
        return _Comparison(positive, relation, negative, constant)
    return _Comparison(negative, _FLIPPED[relation], positive, -constant)


def _people_atom(atom: Atom, variables: tuple[str, ...]) -> str:
    if atom.modulus:
        terms = [(a, v) for a, v in zip(atom.coefficients, variables, strict=True) if a]
        left = _sum(terms, 0)
        if len(terms) > 1 or terms[0][0] > 1:
            left = f"({left})"
        return f"{left} % {atom.modulus} {atom.relation} {atom.constant}"
    left, relation, right, constant = _comparison(atom, variables)
    return f"{_sum(left, 0)} {relation} {_sum(right, constant)}"


def _sum(terms: list[tuple[int, str]], constant: int, times: str = "*") -> str:
    if not terms:
        return str(constant)
    text = " + ".join(v if a == 1 else f"{a}{times}{v}" for a, v in terms)
    return text + (f" {'+' if constant > 0 else '-'} {abs(constant)}" if constant else "")


def _latex_atom(atom: Atom, variables: tuple[str, ...]) -> str:
    named = tuple(_latex_name(variable) for variable in variables)
    if atom.modulus:
        terms = [(a, v) for a, v in zip(atom.coefficients, named, strict=True) if a]
        sign = r"\equiv" if atom.relation == "==" else r"\not\equiv"
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


def _smt_atom(atom: Atom, variables: tuple[str, ...]) -> str:
    terms = [
        _symbol(v) if a == 1 else f"(* {_numeral(a)} {_symbol(v)})"
        for a, v in zip(atom.coefficients, variables, strict=True)
        if a
    ]
    left = _application("+", terms, "0")
    if atom.modulus:
        left = f"(mod {left} {atom.modulus})"
    comparison = f"({'<=' if atom.relation == '<=' else '='} {left} {_numeral(atom.constant)})"
    return f"(not {comparison})" if atom.relation == "!=" else comparison


def _application(operator: str, arguments: list[str], empty: str) -> str:
    if len(arguments) < 2:
        return arguments[0] if arguments else empty
    return f"({operator} {' '.join(arguments)})"


def _numeral(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _symbol(name: str) -> str:
    if re.fullmatch(r"[A-Za-z~!@$%^&*_+=<>.?/-][\w~!@$%^&*+=<>.?/-]*", name, re.ASCII):
        return name
    if "|" in name or "\\" in name:
        raise InputError(f"variable {name!r} has a character that SMT-LIB symbols cannot have")
    return f"|{name}|"
