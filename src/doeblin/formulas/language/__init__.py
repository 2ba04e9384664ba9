"""The language: formulas over integer variables, and examples of what they should say."""

from ._examples import Contradiction, Examples
from ._formula import Formula
from ._read import read_examples, read_stream

__all__ = [
    "Contradiction",
    "Examples",
    "Formula",
    "read_examples",
    "read_stream",
]
