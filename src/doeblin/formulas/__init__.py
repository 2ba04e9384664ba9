"""Formulas from examples: a DNF of linear inequalities found by staged chains.

`search` finds a `Formula` that agrees with `Examples`. Which chain it runs is data: a `Method` is
`Stage`s driven by a `doeblin.schedules.Schedule`. `Task` and `Chain` are the engine underneath, for
callers with pools of atoms of their own.
"""

from ._bits import pack as pack
from ._bits import unpack as unpack
from ._engine import Chain as Chain
from ._examples import Contradiction as Contradiction
from ._examples import Examples as Examples
from ._formula import Atom as Atom
from ._formula import Formula as Formula
from ._minimise import minimised as minimised
from ._read import read_examples as read_examples
from ._record import Progress as Progress
from ._record import TracePoint as TracePoint
from ._search import SearchResult as SearchResult
from ._search import search as search
from ._space import Space as Space
from ._stages import Method as Method
from ._stages import Stage as Stage
from ._stages import focused_gibbs as focused_gibbs
from ._stages import one_stage as one_stage
from ._stages import two_stage as two_stage
from ._stages import zero_stage as zero_stage
from ._tables import AtomArrays as AtomArrays
from ._tables import classes as classes
from ._tables import slots_for as slots_for
from ._tables import truth_table as truth_table
from ._task import Task as Task
