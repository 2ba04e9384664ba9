"""numba, or a clear message where it is missing."""

from __future__ import annotations

from typing import Any

from .._errors import MissingExtraError

try:
    import numba
except ImportError:
    raise MissingExtraError("numba", "formulas") from None

# Compiled functions take arrays spread out from tuples, which no type checker can follow.
njit: Any = numba.njit
prange: Any = numba.prange
