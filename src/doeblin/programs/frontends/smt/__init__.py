"""Problems written in SMT-LIB's syntax: SyGuS invariants and Horn clauses."""

from ._horn import read_horn as read_horn
from ._script import Script as Script
from ._sexpr import commands as commands
from ._sygus import read_sygus as read_sygus
from ._terms import Reader as Reader
