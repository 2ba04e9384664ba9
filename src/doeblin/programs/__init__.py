"""Proofs of programs: C, SyGuS and Horn clauses in, invariants or failing runs out."""

from .._errors import needs

with needs("verify"):
    from ._program import Program, parse_program, read_program
    from ._tunables import Tunables
    from ._verify import verify, without_sources
    from .learner import METHODS, Asked, Note
    from .lemmas import SOURCES
    from .verdict import Invariant, Outcome, Verdict

__all__ = [
    "METHODS",
    "SOURCES",
    "Asked",
    "Invariant",
    "Note",
    "Outcome",
    "Program",
    "Tunables",
    "Verdict",
    "parse_program",
    "read_program",
    "verify",
    "without_sources",
]
