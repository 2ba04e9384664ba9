"""The language: formulas over integer variables, and examples of what they should say."""

from ._examples import Contradiction, Examples
from ._formula import Atom, Formula, Relation
from ._read import read_examples, read_stream

__all__ = [
    "Atom",
    "Contradiction",
    "Examples",
    "Formula",
    "Relation",
    "read_examples",
    "read_stream",
]
