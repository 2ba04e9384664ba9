"""Linear-chain CRFs: tractable restarts, and a sequence labeller that goes past them."""

from ._alignments import AlignmentProposal as AlignmentProposal
from ._alignments import Alignments as Alignments
from ._alignments import Output as Output
from ._corpus import Corpus as Corpus
from ._ends import FractionBlock as FractionBlock
from ._highorder import Given as Given
from ._highorder import HighOrder as HighOrder
from ._highorder import RandomFraction as RandomFraction
from ._highorder import SequenceGibbs as SequenceGibbs
from ._labeller import SequenceLabeller as SequenceLabeller
from ._labeller import train_crf as train_crf
from ._potentials import Potentials as Potentials
from ._potentials import log_partition as log_partition
from ._potentials import log_weight as log_weight
from ._potentials import marginals as marginals
from ._potentials import sample as sample
from ._potentials import viterbi as viterbi
from ._restart import LinearChainCRF as LinearChainCRF
from ._restart import LinearPotentials as LinearPotentials
from ._restart import Observed as Observed
from ._restart import SparseFeatures as SparseFeatures
