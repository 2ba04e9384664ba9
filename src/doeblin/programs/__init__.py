"""Proofs of programs: C, SyGuS and Horn clauses in, invariants or failing runs out."""

from ._methods import METHODS as METHODS
from ._program import Program as Program
from ._program import parse_program as parse_program
from ._program import read_program as read_program
from ._verdict import Invariant as Invariant
from ._verdict import Outcome as Outcome
from ._verdict import Verdict as Verdict
from ._verify import verify as verify
from .learner import Asked as Asked
from .learner import Note as Note
