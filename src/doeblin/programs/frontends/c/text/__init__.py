"""From the text of a file to tokens that a parser reads: directives, macros, headers."""

from ._clean import PRAGMA, clean
from ._directive import binary_constant
from ._preprocess import Preprocessor
from ._tokens import Token, tokenize

__all__ = [
    "PRAGMA",
    "Preprocessor",
    "Token",
    "binary_constant",
    "clean",
    "tokenize",
]
