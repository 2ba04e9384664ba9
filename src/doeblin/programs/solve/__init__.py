"""Conditions, their solver, bounded search, replay and the final re-check."""

from ._acceleration import accelerate as accelerate
from ._atoms import all_term as all_term
from ._atoms import dnf_term as dnf_term
from ._bounded import Unrolling as Unrolling
from ._budget import SECOND as SECOND
from ._budget import Budget as Budget
from ._budget import OutOfTime as OutOfTime
from ._conditions import Conditions as Conditions
from ._conditions import GaveUp as GaveUp
from ._conditions import Model as Model
from ._recheck import Obligation as Obligation
from ._recheck import obligations as obligations
from ._recheck import recheck as recheck
from ._replay import FARTHEST as FARTHEST
from ._replay import Failure as Failure
from ._replay import Path as Path
from ._replay import fails_on as fails_on
from ._replay import replay_clauses as replay_clauses
from ._replay import replay_graph as replay_graph
from ._selection import Selection as Selection
from ._spacer import spacer as spacer
from ._turns import Pause as Pause
from ._turns import Turns as Turns
from ._turns import finish as finish
