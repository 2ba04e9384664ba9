"""What annotations claim: ACSL, read and told to the emitter."""

from ._acsl import BOUND, Formula, Names, NotUnderstood, clauses
from ._contracts import Contracts

__all__ = [
    "BOUND",
    "Contracts",
    "Formula",
    "Names",
    "NotUnderstood",
    "clauses",
]
