"""Training: u by the likelihood over the trie, A's factors and networks by that of π̃."""

from ._likelihood import Likelihood
from ._plan import Plan, Progress
from ._training import train

__all__ = ["Likelihood", "Plan", "Progress", "train"]
