"""The intermediate language, its interpreter, and the clauses that a proof must discharge."""

from ._analysis import thread_jumps as thread_jumps
from ._analysis import without_failures as without_failures
from ._clauses import system_of as system_of
from ._graph import Assign as Assign
from ._graph import Assume as Assume
from ._graph import Block as Block
from ._graph import Branch as Branch
from ._graph import Fail as Fail
from ._graph import Graph as Graph
from ._graph import Havoc as Havoc
from ._graph import Jump as Jump
from ._graph import Loop as Loop
from ._graph import Statement as Statement
from ._graph import Stop as Stop
from ._graph import Variable as Variable
from ._interpreter import Interpreter as Interpreter
from ._interpreter import Run as Run
from ._law import Law as Law
from ._remarks import Remarks as Remarks
from ._system import Clause as Clause
from ._system import Cut as Cut
from ._system import Input as Input
from ._system import System as System
