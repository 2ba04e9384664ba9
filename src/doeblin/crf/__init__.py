"""Linear-chain CRFs: tractable restarts, and a sequence labeller that goes past them."""

from .._errors import needs

with needs("learning"):
    from ._alignments import AlignmentProposal, Alignments, Output
    from ._ends import FractionBlock
    from ._highorder import Given, HighOrder, RandomFraction, SequenceGibbs
    from ._labeller import SequenceLabeller
    from ._potentials import Potentials, log_partition, log_weight, marginals, sample, viterbi
    from ._restart import LinearChainCRF, LinearPotentials, Observed, SparseFeatures

__all__ = [
    "AlignmentProposal",
    "Alignments",
    "FractionBlock",
    "Given",
    "HighOrder",
    "LinearChainCRF",
    "LinearPotentials",
    "Observed",
    "Output",
    "Potentials",
    "RandomFraction",
    "SequenceGibbs",
    "SequenceLabeller",
    "SparseFeatures",
    "log_partition",
    "log_weight",
    "marginals",
    "sample",
    "viterbi",
]
