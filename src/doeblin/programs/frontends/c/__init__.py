"""C, read for verification."""

from ._calls import ASSERTIONS, ASSUMPTIONS, FAILURES
from ._emitter import SIGNED_OVERFLOW, Slot, Unsupported
from ._expressions import Expressions
from ._reader import read_c
from ._types import LLONG, Wraps

__all__ = [
    "ASSERTIONS",
    "ASSUMPTIONS",
    "FAILURES",
    "LLONG",
    "SIGNED_OVERFLOW",
    "Expressions",
    "Slot",
    "Unsupported",
    "Wraps",
    "read_c",
]
