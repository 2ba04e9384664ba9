"""The loop over bytecode as machine code."""

from __future__ import annotations

from ..._numba import kept
from ._execute import execute

compiled = kept(about=2)(execute)
