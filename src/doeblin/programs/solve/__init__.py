"""Conditions, their solver, bounded search, replay and the final re-check."""

from ._acceleration import accelerate
from ._atoms import all_term, dnf_term
from ._bounded import Unrolling
from ._budget import SECOND, Budget, OutOfTime, heedless
from ._conditions import Conditions, GaveUp, Model
from ._derivation import replay_arrays
from ._easing import eased
from ._paths import Path
from ._recheck import Obligation, obligations, recheck, solving
from ._replay import FARTHEST, Fact, Failure, fails_on, replay_clauses, replay_graph
from ._selection import Selection
from ._spacer import spacer
from ._states import States
from ._trees import Trees
from ._turns import Pause, Turns, finish

__all__ = [
    "FARTHEST",
    "SECOND",
    "Budget",
    "Conditions",
    "Fact",
    "Failure",
    "GaveUp",
    "Model",
    "Obligation",
    "OutOfTime",
    "Path",
    "Pause",
    "Selection",
    "States",
    "Trees",
    "Turns",
    "Unrolling",
    "accelerate",
    "all_term",
    "dnf_term",
    "eased",
    "fails_on",
    "finish",
    "heedless",
    "obligations",
    "recheck",
    "replay_arrays",
    "replay_clauses",
    "replay_graph",
    "solving",
    "spacer",
]
