"""Learning: maximise the likelihood of data under the chain's stationary law."""

from .._errors import needs

with needs("learning"):
    from ._contrastive import ApproximateGibbs, Contrastive, PersistentContrastive
    from ._data import Dataset
    from ._estimate import AbstractEstimator, PathEstimate, RestartLikelihood
    from ._fit import (
        CollapseWarning,
        Fit,
        Interrupted,
        Likelihood,
        LogLikelihood,
        Objective,
        fit,
        likelihood,
        log_likelihood,
    )
    from ._horizons import AbstractHorizon, FixedHorizon, Geometric, Segment
    from ._initialise import extend_with_zeros
    from ._likelihood import Bidirectional, Forward, Reversal
    from ._normalise import Normalise
    from ._rates import em_epsilon, em_stage_matrix, exit_rates
    from ._reward import LogReward, Reward, edit_distance, edit_distance_reward
    from ._saved import load_parameters, save_parameters
    from ._states import weighted_states

__all__ = [
    "AbstractEstimator",
    "AbstractHorizon",
    "ApproximateGibbs",
    "Bidirectional",
    "CollapseWarning",
    "Contrastive",
    "Dataset",
    "Fit",
    "FixedHorizon",
    "Forward",
    "Geometric",
    "Interrupted",
    "Likelihood",
    "LogLikelihood",
    "LogReward",
    "Normalise",
    "Objective",
    "PathEstimate",
    "PersistentContrastive",
    "RestartLikelihood",
    "Reversal",
    "Reward",
    "Segment",
    "edit_distance",
    "edit_distance_reward",
    "em_epsilon",
    "em_stage_matrix",
    "exit_rates",
    "extend_with_zeros",
    "fit",
    "likelihood",
    "load_parameters",
    "log_likelihood",
    "save_parameters",
    "weighted_states",
]
