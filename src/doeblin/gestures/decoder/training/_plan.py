"""How to train, and where training stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...._errors import InputError


@dataclass(frozen=True)
class Plan:
    """How to train: passes over the data, Adam's step size (it falls to zero), batch and seed.

    `outliers` is the share of gestures that may spell anything at all. The weights of word-level
    factors are fitted on at most `word_gestures` gestures.
    """

    passes: int = 5
    step: float = 0.05
    batch: int = 32
    outliers: float = 0.01
    decay: float = 1e-5
    word_gestures: int = 20_000
    seed: int = 0

    def __post_init__(self):
        for name in ("passes", "batch", "word_gestures"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} = {getattr(self, name)} must be at least 1")
        if not self.step > 0 or not 0 < self.outliers < 1 or self.decay < 0:
            raise InputError("step must be positive, outliers in (0, 1), decay not negative")


class Progress(NamedTuple):
    """Where training stands; handed to the `progress` callback."""

    step: int
    steps: int
    log_likelihood: float
    """Mean over the gestures of this pass so far."""
