"""The intermediate language, its interpreter, and the clauses that a proof must discharge."""

from ._analysis import reachable, thread_jumps, without_failures
from ._clauses import system_of
from ._graph import (
    Assign,
    Assume,
    Block,
    Branch,
    Call,
    Fail,
    Graph,
    Havoc,
    Jump,
    Loop,
    Procedure,
    Return,
    Statement,
    Stop,
    Variable,
)
from ._interpreter import Interpreter, Run
from ._law import Law
from ._procedures import with_old_values
from ._remarks import Remarks
from ._system import Clause, Cut, Input, Premise, System

__all__ = [
    "Assign",
    "Assume",
    "Block",
    "Branch",
    "Call",
    "Clause",
    "Cut",
    "Fail",
    "Graph",
    "Havoc",
    "Input",
    "Interpreter",
    "Jump",
    "Law",
    "Loop",
    "Premise",
    "Procedure",
    "Remarks",
    "Return",
    "Run",
    "Statement",
    "Stop",
    "System",
    "Variable",
    "reachable",
    "system_of",
    "thread_jumps",
    "with_old_values",
    "without_failures",
]
