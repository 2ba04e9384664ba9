"""The compiled entry points, kept on disk so that each machine compiles them once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from .._numba import njit
from . import _measure, _passes, _restart


def _source_digest() -> bytes:
    """A digest of all compiled code here.

    numba's cache watches the file of a cached function only, not those of the functions that it
    calls; a captured variable is part of the key, so an edit of any of them compiles anew.
    """
    names = ("_features.py", "_kernels.py", "_measure.py", "_passes.py", "_restart.py")
    folder = Path(__file__).parent
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).digest()


def _entries(source: bytes) -> tuple[Any, ...]:
    @njit(cache=True)
    def likelihood_pass(*arguments):
        _ = source
        return _restart.likelihood_pass(*arguments)

    @njit(cache=True)
    def doeblin_pass(*arguments):
        _ = source
        return _passes.doeblin_pass(*arguments)

    @njit(cache=True)
    def gibbs_pass(*arguments):
        _ = source
        return _passes.gibbs_pass(*arguments)

    @njit(cache=True)
    def seed(number):
        _ = source
        _passes.seed(number)

    @njit(cache=True)
    def measure(*arguments):
        _ = source
        return _measure.measure(*arguments)

    @njit(cache=True)
    def rerank(*arguments):
        _ = source
        return _measure.rerank(*arguments)

    @njit(cache=True)
    def exact(*arguments):
        _ = source
        return _measure.exact(*arguments)

    return likelihood_pass, doeblin_pass, gibbs_pass, seed, measure, rerank, exact


_compiled = _entries(_source_digest())
likelihood_pass, doeblin_pass, gibbs_pass, seed, measure, rerank, exact = _compiled
