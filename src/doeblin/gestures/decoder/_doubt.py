"""What an open vocabulary leaves out: the word may be none of the candidates."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from ..._errors import InputError
from ._scores import log_normalised
from .restart import Floats

MOST = 50.0


@dataclass(frozen=True)
class Doubt:
    """How likely an open vocabulary does not have the word that was meant.

    The less likely the first candidate, the likelier so: the log-odds are `base` + `slope` times
    its own. What is left is the candidates', whose scores count `sharpness` times.
    """

    sharpness: float
    base: float
    slope: float

    def __post_init__(self):
        if not (0.1 <= self.sharpness <= 10 and max(map(abs, (self.base, self.slope))) <= MOST):
            raise InputError(
                f"doubt = {list(astuple(self))}: its sharpness must be between 0.1 and 10, base "
                f"and slope between -{MOST:g} and {MOST:g}"
            )

    def missing(self, log_full: Floats) -> Floats:
        """The chance that none of the candidates is meant, for each row of normalised scores."""
        return np.exp(-np.logaddexp(0.0, -self._log_odds(log_full)))

    def after(self, log_full: Floats) -> Floats:
        """Normalised scores of candidates once there is room for none of them."""
        finite = np.isfinite(log_full)
        sharper = np.where(finite, self.sharpness * np.where(finite, log_full, 0.0), -np.inf)
        return log_normalised(sharper) - np.logaddexp(0.0, self._log_odds(log_full))[..., None]

    def _log_odds(self, log_full: Floats) -> Floats:
        return self.base + self.slope * log_odds(log_full)


def log_odds(log_full: Floats) -> Floats:
    """Of the first candidate, where nothing is certain, nor anything impossible."""
    first = np.clip(np.exp(log_full.max(axis=-1)), 1e-6, 1 - 1e-6)
    return np.log(first / (1 - first))
