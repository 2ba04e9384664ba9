"""The decoder: a restart normalised over the lexicon's trie, and a full model over words."""

from ..._errors import needs

with needs("gestures"):
    from ._adaptation import evaluate_adaptation
    from ._decoder import Candidates, Decoder, Guess, WordFactor
    from ._evaluation import calibration_error, character_accuracy, edit_distance, evaluate
    from ._hand import Hand, Hands
    from ._model import Model, Settings
    from .restart import Trie
    from .training import Likelihood, Plan, Progress, fit_hands, fit_sharpness, train

__all__ = [
    "Candidates",
    "Decoder",
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
    "fit_hands",
    "fit_sharpness",
    "train",
]
