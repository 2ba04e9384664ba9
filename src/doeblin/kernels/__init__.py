"""Restarts `u` and kernels `A`: what chains are made of."""

from .._errors import needs

with needs("chains"):
    from ._base import AbstractKernel, AbstractRestart, AbstractReversibleKernel
    from ._block import BlockKernel, PrefixOrSuffix, RandomSites
    from ._coloured import AbstractParts, ColouredGibbs, ColouredSweep
    from ._combinators import cycle, mixture, repeat
    from ._finite import FiniteKernel, FiniteRestart
    from ._gibbs import Gibbs, GibbsSweep
    from ._grid import Potts
    from ._metropolis import BalancedProposal, Metropolis, UniformChange, locally_balanced
    from ._restarts import FunctionKernel, FunctionRestart, Independent, IndependentSites
    from ._sites import LogDensity

__all__ = [
    "AbstractKernel",
    "AbstractParts",
    "AbstractRestart",
    "AbstractReversibleKernel",
    "BalancedProposal",
    "BlockKernel",
    "ColouredGibbs",
    "ColouredSweep",
    "FiniteKernel",
    "FiniteRestart",
    "FunctionKernel",
    "FunctionRestart",
    "Gibbs",
    "GibbsSweep",
    "Independent",
    "IndependentSites",
    "LogDensity",
    "Metropolis",
    "Potts",
    "PrefixOrSuffix",
    "RandomSites",
    "UniformChange",
    "cycle",
    "locally_balanced",
    "mixture",
    "repeat",
]
