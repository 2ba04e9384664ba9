"""Names, numbers and formulas in SMT-LIB."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._errors import InputError
from ._atom import LE, NE, Atom, Dnf

_PLAIN = re.compile(r"[A-Za-z_~!@$%^&*+=<>.?/-][A-Za-z0-9_~!@$%^&*+=<>.?/-]*\Z")
# Names that mean something to solvers, which a variable must not have, not even in bars.
WORDS = frozenset(
    {"_", "!", "as", "let", "exists", "forall", "lambda", "match", "par", "BINARY", "DECIMAL",
     "HEXADECIMAL", "NUMERAL", "STRING", "and", "or", "not", "xor", "ite", "implies", "iff", "if",
     "distinct", "div", "mod", "rem", "abs", "true", "false", "select", "store", "const", "is",
     "is_int", "to_int", "to_real", "int2bv", "bv2int", "bv2nat", "divisible", "concat", "extract",
     "repeat", "pi", "sin", "cos", "tan", "exp", "sqrt", "iand", "Int", "Bool", "Real", "String",
     "Array"}
)  # fmt: skip


def symbol(name: str) -> str:
    """The name as an SMT-LIB symbol, quoted where it must be."""
    if _PLAIN.match(name) and name not in WORDS and name not in "+-*/<=>":
        return name
    if "|" in name or "\\" in name:
        raise InputError(f"variable {name!r} has a character that SMT-LIB symbols cannot have")
    return f"|{name}|"


def numeral(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def application(operator: str, arguments: Sequence[str], empty: str) -> str:
    """The operator applied to any number of arguments."""
    if len(arguments) < 2:
        return arguments[0] if arguments else empty
    return f"({operator} {' '.join(arguments)})"


def atom_smtlib(atom: Atom, names: Sequence[str]) -> str:
    """An atom over these names."""
    terms = [
        symbol(v) if a == 1 else f"(* {numeral(a)} {symbol(v)})"
        for a, v in zip(atom.coefficients, names, strict=True)
        if a
    ]
    left = application("+", terms, "0")
    if atom.modulus:
        left = f"(mod {left} {atom.modulus})"
    comparison = f"({'<=' if atom.relation == LE else '='} {left} {numeral(atom.constant)})"
    return f"(not {comparison})" if atom.relation == NE else comparison


def dnf_smtlib(dnf: Dnf, names: Sequence[str]) -> str:
    """A formula over these names."""
    cubes = [application("and", [atom_smtlib(a, names) for a in cube], "true") for cube in dnf]
    return application("or", cubes, "false")
