"""numba, or a clear message where it is missing; and how compiled code is kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from inspect import getfile
from pathlib import Path
from typing import Any

from . import _compiling
from ._errors import MissingExtraError

try:
    import numba
    from numba import extending
    from numba.core import event
except ImportError:
    raise MissingExtraError("numba", "formulas") from None

# Compiled functions take arrays spread out from tuples, which no type checker can follow.
njit: Any = numba.njit
prange: Any = numba.prange
intrinsic: Any = extending.intrinsic
types = numba.types


_ABOUT: dict[Any, float] = {}


class _Watch(event.Listener):
    """Keeps `_compiling` informed; what comes from the disk is no such event."""

    def on_start(self, event: Any) -> None:
        _compiling.begin(_ABOUT.get(event.data["dispatcher"], 0.0))

    def on_end(self, event: Any) -> None:
        _compiling.end()


event.register("numba:compile", _Watch())


def part(**options: Any) -> Callable[[Callable], Any]:
    """`njit` for a function that only compiled code calls; Python cannot."""
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def kept(*, about: float, **options: Any) -> Callable[[Callable], Any]:
    """`njit` for an entry point: compiled once on a machine, and anew after an edit.

    It takes `about` so many seconds of a processor, for people who wait.

    numba's cache watches the file of the function itself, not those of the functions it calls. So
    the name under which it is kept carries a digest of all code beside it; what it calls must be
    there, in the same folder.
    """

    def decorate(function: Callable) -> Any:
        function.__qualname__ += "_" + source_digest(Path(getfile(function)).parent)
        made = njit(cache=True, no_cfunc_wrapper=True, **options)(function)
        _ABOUT[made] = about
        return made

    return decorate


@cache
def source_digest(folder: Path) -> str:
    """A short digest of the Python files of a folder, and of this one."""
    digest = hashlib.sha256()
    for file in (*sorted(folder.glob("*.py")), Path(__file__)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
