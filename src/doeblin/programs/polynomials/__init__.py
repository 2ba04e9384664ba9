"""Polynomial invariants by algebra: which equations all runs satisfy, found from states that were
seen and kept where every step preserves them. A solver confirms whatever is used."""

from ._abstract import abstract_system
from ._branches import Branch, branches_of
from ._proofs import Prover
from ._ring import comparisons, equation, integral, polynomial_of, value_at
from ._spaces import generators, inductive, monomials, reduced, vanishing

__all__ = [
    "Branch",
    "Prover",
    "abstract_system",
    "branches_of",
    "comparisons",
    "equation",
    "generators",
    "inductive",
    "integral",
    "monomials",
    "polynomial_of",
    "reduced",
    "value_at",
    "vanishing",
]
