"""The intermediate language, its interpreter, and the clauses that a proof must discharge."""

from ._analysis import reachable, thread_jumps, without_copies, without_failures
from ._bases import from_bases
from ._cells import with_cells
from ._clauses import system_of
from ._coordinates import Coordinates
from ._graph import (
    Array,
    Assign,
    Assume,
    Block,
    Branch,
    Call,
    Copy,
    Fail,
    Fill,
    Graph,
    Havoc,
    Jump,
    Load,
    Loop,
    Procedure,
    Return,
    Statement,
    Stop,
    Store,
    Variable,
    read_by,
    with_terms,
)
from ._interpreter import Interpreter, Run
from ._law import Law
from ._likeness import followed, likeness
from ._memory import Memory
from ._procedures import with_old_values
from ._quantified import shown_formula
from ._remarks import Remarks
from ._system import Bank, Cells, Clause, Cut, Extra, Input, Premise, System

__all__ = [
    "Array",
    "Assign",
    "Assume",
    "Bank",
    "Block",
    "Branch",
    "Call",
    "Cells",
    "Clause",
    "Coordinates",
    "Copy",
    "Cut",
    "Extra",
    "Fail",
    "Fill",
    "Graph",
    "Havoc",
    "Input",
    "Interpreter",
    "Jump",
    "Law",
    "Load",
    "Loop",
    "Memory",
    "Premise",
    "Procedure",
    "Remarks",
    "Return",
    "Run",
    "Statement",
    "Stop",
    "Store",
    "System",
    "Variable",
    "followed",
    "from_bases",
    "likeness",
    "reachable",
    "read_by",
    "shown_formula",
    "system_of",
    "thread_jumps",
    "with_cells",
    "with_old_values",
    "with_terms",
    "without_copies",
    "without_failures",
]
