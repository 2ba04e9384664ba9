"""numba, or a clear message where it is missing."""

from __future__ import annotations

from ..._errors import MissingExtraError

try:
    from numba import njit as njit
    from numba import prange as prange
except ImportError:
    raise MissingExtraError("numba", "formulas") from None
