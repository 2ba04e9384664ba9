"""Adam in numpy: the likelihoods here are compiled code in double precision, not JAX."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SHARE = 0.1


class Adam(NamedTuple):
    """Running means of gradients and of their squares, in which a new one has this share."""

    first: Floats
    second: Floats
    share: float
    floor: float

    @classmethod
    def at_rest(cls, parameters: Floats, *, share: float, floor: float) -> Adam:
        return cls(np.zeros_like(parameters), np.zeros_like(parameters), share, floor)

    def after(self, gradient: Floats) -> Adam:
        """With one more gradient."""
        first = (1 - _SHARE) * self.first + _SHARE * gradient
        second = (1 - self.share) * self.second + self.share * gradient**2
        return self._replace(first=first, second=second)

    def move(self, step: int) -> Floats:
        """The direction to go after so many gradients, counted from one."""
        spread = np.sqrt(self.second / (1 - (1 - self.share) ** step)) + self.floor
        return self.first / (1 - (1 - _SHARE) ** step) / spread
