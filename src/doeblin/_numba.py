"""numba, or a clear message where it is missing; and how compiled code is kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from inspect import getfile
from pathlib import Path
from typing import Any

from ._errors import MissingExtraError

try:
    import numba
    from numba import extending
except ImportError:
    raise MissingExtraError("numba", "formulas") from None

# Compiled functions take arrays spread out from tuples, which no type checker can follow.
njit: Any = numba.njit
prange: Any = numba.prange
intrinsic: Any = extending.intrinsic
types = numba.types


def kept(**options: Any) -> Callable[[Callable], Any]:
    """`njit` for an entry point: compiled once on a machine, and anew after an edit.

    numba's cache watches the file of the function itself, not those of the functions it calls. So
    the name under which it is kept carries a digest of all code beside it; what it calls must be
    there, in the same folder.
    """

    def decorate(function: Callable) -> Any:
        function.__qualname__ += "_" + source_digest(Path(getfile(function)).parent)
        return njit(cache=True, **options)(function)

    return decorate


@cache
def source_digest(folder: Path) -> str:
    """A short digest of the Python files of a folder, and of this one."""
    digest = hashlib.sha256()
    for file in (*sorted(folder.glob("*.py")), Path(__file__)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
