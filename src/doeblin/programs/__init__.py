"""Proofs of programs: C, SyGuS and Horn clauses in, invariants or failing runs out."""

from .._errors import needs

with needs("verify"):
    from ._methods import METHODS
    from ._program import Program, parse_program, read_program
    from ._verdict import Invariant, Outcome, Verdict
    from ._verify import verify
    from .learner import Asked, Note

__all__ = [
    "METHODS",
    "Asked",
    "Invariant",
    "Note",
    "Outcome",
    "Program",
    "Verdict",
    "parse_program",
    "read_program",
    "verify",
]
