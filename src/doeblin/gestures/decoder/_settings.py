"""How a model looks at traces, and how far it looks for words."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._json import shown
from ..data import Layout
from .restart import Restart, Tree, Trie

_WHOLE = ("least_frames", "most_frames", "keep")


@dataclass(frozen=True)
class Settings:
    """How traces become frames and how far the trie is walked. Part of the model.

    Frames: `rate` a second, but at least `least_frames` and at most `most_frames`. Nodes of the
    trie are dropped below `prune` of the most promising node of their level, and below `prune_deep`
    of the most promising one of all; 0 and 0 walk the whole trie. `keep` words reach the full
    model.
    """

    rate: float = 15.0
    least_frames: int = 16
    most_frames: int = 40
    prune: float = 1e-6
    prune_deep: float = 1e-9
    keep: int = 20

    def __post_init__(self):
        for name, value in vars(self).items():
            kind, said = (Integral, "a whole number") if name in _WHOLE else (Real, "a number")
            if isinstance(value, bool) or not isinstance(value, kind):
                raise InputError(f"{name} = {shown(value)} must be {said}")
        if not 1 <= self.rate <= 200:
            raise InputError(f"rate = {shown(self.rate)} must be between 1 and 200 frames a second")
        if not 2 <= self.least_frames <= self.most_frames <= 1000:
            raise InputError(
                f"frames: 2 ≤ least ({shown(self.least_frames)}) ≤ most "
                f"({shown(self.most_frames)}) ≤ 1000"
            )
        if not (0 <= self.prune < 1 and 0 <= self.prune_deep < 1):
            raise InputError(
                f"prune = {shown(self.prune)} and {shown(self.prune_deep)} must be in [0, 1)"
            )
        if not 1 <= self.keep <= 1000:
            raise InputError(f"keep = {shown(self.keep)} must be between 1 and 1000")

    def restart(
        self, layout: Layout, weights: NDArray[np.float64], letters: NDArray[np.float64]
    ) -> Restart:
        """u for compiled code."""
        frames = (float(self.rate), self.least_frames, self.most_frames)
        return Restart(layout.plane, weights, letters, *frames)

    def tree(self, trie: Trie) -> Tree:
        """A trie for compiled code."""
        return Tree(
            trie.letter, trie.first_child, trie.first_word, trie.words, trie.levels, trie.best,
            trie.lexicon.log_frequencies, trie.doubles, float(self.prune), float(self.prune_deep),
        )  # fmt: skip
