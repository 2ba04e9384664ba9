"""The decoder: a restart normalised over the lexicon's trie, and a full model over words."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..._errors import needs

with needs("gestures"):
    from ._adaptation import evaluate_adaptation
    from ._choice import MOST_PLAIN
    from ._decoder import Decoder, Guess, WordFactor
    from ._doubt import Doubt
    from ._evaluation import calibration_error, character_accuracy, edit_distance, evaluate
    from ._found import Candidates
    from ._hand import Hand, Hands
    from ._model import Model
    from ._settings import Settings
    from .restart import Trie

if TYPE_CHECKING:
    from .training import (
        Likelihood,
        Plan,
        Progress,
        fit_doubt,
        fit_hands,
        fit_sharpness,
        train,
    )

# Training is compiled: it loads on first use.
_TRAINING = (
    "Likelihood", "Plan", "Progress", "fit_doubt", "fit_hands", "fit_sharpness", "train",
)  # fmt: skip

__all__ = [
    "MOST_PLAIN",
    "Candidates",
    "Decoder",
    "Doubt",
    "Guess",
    "Hand",
    "Hands",
    "Likelihood",
    "Model",
    "Plan",
    "Progress",
    "Settings",
    "Trie",
    "WordFactor",
    "calibration_error",
    "character_accuracy",
    "edit_distance",
    "evaluate",
    "evaluate_adaptation",
    "fit_doubt",
    "fit_hands",
    "fit_sharpness",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _TRAINING:
        with needs("gestures"):
            return getattr(importlib.import_module(f"{__name__}.training"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
