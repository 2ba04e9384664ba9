"""C, read for verification."""

from ._calls import ASSERTIONS, ASSUMPTIONS, FAILURES
from ._emitter import SIGNED_OVERFLOW, Slot, Unsupported
from ._expressions import Expressions
from ._library import ALLOCATING
from ._reader import read_c
from .contracts import BOUND, Formula, Names, NotUnderstood, clauses
from .text import tokenize
from .tree import parts
from .types import BOOL, INT, LLONG, CType, Wraps, common, integer_literal, promote, type_of

__all__ = [
    "ALLOCATING",
    "ASSERTIONS",
    "ASSUMPTIONS",
    "BOOL",
    "BOUND",
    "FAILURES",
    "INT",
    "LLONG",
    "SIGNED_OVERFLOW",
    "CType",
    "Expressions",
    "Formula",
    "Names",
    "NotUnderstood",
    "Slot",
    "Unsupported",
    "Wraps",
    "clauses",
    "common",
    "integer_literal",
    "parts",
    "promote",
    "read_c",
    "tokenize",
    "type_of",
]
