"""Conditions, their solver, bounded search, replay and the final re-check."""

from ._acceleration import accelerate as accelerate
from ._atoms import EQ as EQ
from ._atoms import LE as LE
from ._atoms import NE as NE
from ._atoms import Atom as Atom
from ._atoms import Cube as Cube
from ._atoms import Dnf as Dnf
from ._atoms import all_term as all_term
from ._atoms import dnf_holds as dnf_holds
from ._atoms import dnf_size as dnf_size
from ._atoms import dnf_term as dnf_term
from ._bounded import Bounded as Bounded
from ._clock import Clock as Clock
from ._clock import OutOfTime as OutOfTime
from ._conditions import Conditions as Conditions
from ._conditions import GaveUp as GaveUp
from ._conditions import Model as Model
from ._recheck import Obligation as Obligation
from ._recheck import obligations as obligations
from ._recheck import recheck as recheck
from ._replay import Failure as Failure
from ._replay import Path as Path
from ._replay import fails_on as fails_on
from ._replay import replay_clauses as replay_clauses
from ._replay import replay_graph as replay_graph
from ._selection import Selection as Selection
