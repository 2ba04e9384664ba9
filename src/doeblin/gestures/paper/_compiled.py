"""The compiled entry points, kept on disk so that each machine compiles them once."""

from __future__ import annotations

from ..._numba import kept
from . import _measure, _passes, _restart


@kept(about=5)
def likelihood_pass(*arguments):
    return _restart.likelihood_pass(*arguments)


@kept(about=5)
def doeblin_pass(*arguments):
    return _passes.doeblin_pass(*arguments)


@kept(about=5)
def gibbs_pass(*arguments):
    return _passes.gibbs_pass(*arguments)


@kept(about=5)
def seed(number):
    _passes.seed(number)


@kept(about=5)
def measure(*arguments):
    return _measure.measure(*arguments)


@kept(about=5)
def rerank(*arguments):
    return _measure.rerank(*arguments)


@kept(about=5)
def exact(*arguments):
    return _measure.exact(*arguments)
