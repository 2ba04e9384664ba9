"""Restarts `u` and kernels `A`: what chains are made of."""

from ._base import AbstractKernel as AbstractKernel
from ._base import AbstractRestart as AbstractRestart
from ._base import AbstractReversibleKernel as AbstractReversibleKernel
from ._block import BlockKernel as BlockKernel
from ._block import PrefixOrSuffix as PrefixOrSuffix
from ._block import RandomSites as RandomSites
from ._coloured import ColouredGibbs as ColouredGibbs
from ._coloured import ColouredSweep as ColouredSweep
from ._combinators import cycle as cycle
from ._combinators import mixture as mixture
from ._combinators import repeat as repeat
from ._finite import FiniteKernel as FiniteKernel
from ._finite import FiniteRestart as FiniteRestart
from ._gibbs import Gibbs as Gibbs
from ._gibbs import GibbsSweep as GibbsSweep
from ._grid import Potts as Potts
from ._metropolis import BalancedProposal as BalancedProposal
from ._metropolis import Metropolis as Metropolis
from ._metropolis import UniformChange as UniformChange
from ._metropolis import locally_balanced as locally_balanced
from ._restarts import FunctionKernel as FunctionKernel
from ._restarts import FunctionRestart as FunctionRestart
from ._restarts import Independent as Independent
from ._restarts import IndependentSites as IndependentSites
from ._sites import LogDensity as LogDensity
