"""numba, or a clear message where it is missing; and how compiled code is kept on disk."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from inspect import getfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _compiling
from ._errors import MissingExtraError

try:
    import numba
    from numba import extending
    from numba.core import caching, event
except ImportError:
    raise MissingExtraError("numba", "formulas") from None

try:
    import fcntl
except ImportError:  # not on Windows, where every process compiles for itself
    fcntl = None

# Compiled functions take arrays spread out from tuples, which no type checker can follow.
_njit: Any = numba.njit
njit: Any = partial(_njit, no_cfunc_wrapper=True)
intrinsic: Any = extending.intrinsic
types = numba.types

# What is called with a literal is compiled for it separately; these are just values.
NOUGHT = np.int64(0)
NO, YES = np.bool_(False), np.bool_(True)


_ABOUT: dict[Any, float] = {}


class _Watch(event.Listener):
    """Keeps `_compiling` informed; what comes from the disk is no such event."""

    def on_start(self, event: Any) -> None:
        _compiling.begin(_ABOUT.get(event.data["dispatcher"], 0.0))

    def on_end(self, event: Any) -> None:
        _compiling.end()


event.register("numba:compile", _Watch())


def _chooser(sign: str) -> Any:
    """The one of two numbers that compares as `sign` says: a few instructions, where numba compiles
    Python's `min` and `max` anew for every pair of types."""

    def choose(typing_context, a, b):
        floats = isinstance(a, types.Float) or isinstance(b, types.Float)
        kind = types.float64 if floats else types.int64

        def generate(context, builder, signature, arguments):
            a, b = arguments
            compare = builder.fcmp_ordered if floats else builder.icmp_signed
            return builder.select(compare(sign, b, a), b, a)

        return kind(kind, kind), generate

    return intrinsic(choose)


smaller = _chooser("<")
larger = _chooser(">")


def part(**options: Any) -> Callable[[Callable], Any]:
    """`njit` for a function that only compiled code calls; Python cannot."""
    return njit(no_cpython_wrapper=True, **options)


def kept(*, about: float, **options: Any) -> Callable[[Callable], Any]:
    """`njit` for an entry point: compiled once on a machine, and anew after an edit.

    It takes `about` so many seconds of a processor, for people who wait.

    numba's cache watches the file of the function itself, not those of the functions it calls. So
    the name under which it is kept carries a digest of all code that its file imports.
    """

    def decorate(function: Callable) -> Any:
        function.__qualname__ += "_" + source_digest(Path(getfile(function)))
        made = njit(cache=True, **options)(function)
        made._cache = _Kept(function, about)
        _ABOUT[made] = about
        return made

    return decorate


class _Kept(caching.FunctionCache):
    """What several processes need at once is compiled by one of them; the others wait and load it.

    numba asks for what is kept, compiles, and keeps it, one signature at a time in a process. The
    lock is the operating system's: it goes when a process dies, and no child inherits it.
    """

    def __init__(self, function: Callable, about: float):
        super().__init__(function)
        self._about = about
        self._lock: int | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._unlock()  # what was asked for before could not be compiled
        found = super().load_overload(sig, target_context)
        if found is None and self._locked():
            found = super().load_overload(sig, target_context)
            if found is not None:
                self._unlock()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        finally:
            self._unlock()

    def _locked(self) -> bool:
        """Then somebody else may have compiled it meanwhile."""
        if fcntl is None:
            return False
        with suppress(OSError):  # where no file can be locked, each compiles for itself
            self._impl.locator.ensure_cache_path()
            place = Path(self.cache_path) / f"{self._impl.filename_base}.lock"
            self._lock = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with _compiling.not_counted(self._about):
                    fcntl.lockf(self._lock, fcntl.LOCK_EX)
        return self._lock is not None

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


_IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (\([^)]*\)|.*)", re.M)


@cache
def source_digest(file: Path) -> str:
    """A short digest of a file, of those it imports by relative imports, of those that they
    import, and so on; and of this one."""
    digest = hashlib.sha256()
    seen, waiting = set(), [Path(__file__), file.resolve()]
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        code = file.read_text(encoding="utf-8")
        digest.update(f"{file.name}\0{code}\0".encode())
        for dots, module, names in _IMPORT.findall(code):
            target = file.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
            named = [target / name for name in re.findall(r"\w+", names)]
            places = (target, target / "__init__", *named)
            waiting += [place.with_suffix(".py") for place in places if _is_code(place)]
    return digest.hexdigest()[:16]


def _is_code(place: Path) -> bool:
    return place.with_suffix(".py").is_file()
