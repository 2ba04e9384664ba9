"""Problems written in SMT-LIB's syntax: SyGuS invariants and Horn clauses."""

from ._horn import read_horn
from ._resolution import in_order, resolved
from ._script import Script
from ._sexpr import commands
from ._sygus import read_sygus
from ._terms import Reader

__all__ = [
    "Reader",
    "Script",
    "commands",
    "in_order",
    "read_horn",
    "read_sygus",
    "resolved",
]
