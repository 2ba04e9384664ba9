"""Linear atoms over the integers, `a·x ≤ b` and the like, and formulas made of them.

A `Cube` is a conjunction of atoms, a `Dnf` a disjunction of cubes; which variables an atom's
coefficients belong to is said by a list of names beside it. Here is what they mean at a point, and
how they read: to people, in LaTeX, in SMT-LIB.
"""

from ._atom import EQ, LE, NE, RELATIONS, TEMPLATES, Atom, Cube, Dnf, Relation, dnf_holds, dnf_size
from ._smtlib import WORDS, application, atom_smtlib, dnf_smtlib, numeral, symbol
from ._text import dnf_latex, dnf_people

__all__ = [
    "EQ",
    "LE",
    "NE",
    "RELATIONS",
    "TEMPLATES",
    "WORDS",
    "Atom",
    "Cube",
    "Dnf",
    "Relation",
    "application",
    "atom_smtlib",
    "dnf_holds",
    "dnf_latex",
    "dnf_people",
    "dnf_size",
    "dnf_smtlib",
    "numeral",
    "symbol",
]
