"""Training: u by the likelihood over the trie, A's factors and networks by that of π̃."""

from ._doubt import fit_doubt
from ._hands import LEAST_PEOPLE, LEAST_WORDS, fit_hands, well_known
from ._likelihood import Likelihood
from ._plan import Plan, Progress
from ._sharpness import fit_sharpness
from ._training import train

__all__ = [
    "LEAST_PEOPLE",
    "LEAST_WORDS",
    "Likelihood",
    "Plan",
    "Progress",
    "fit_doubt",
    "fit_hands",
    "fit_sharpness",
    "train",
    "well_known",
]
