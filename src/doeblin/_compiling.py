"""Compiling to machine code: whether it goes on, how long it has taken, and whom to tell.

It happens once on a machine, and is nobody's fault: time limits leave it out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[float], object]] = []
_before: list[Callable[[], object]] = []
_after: list[Callable[[], object]] = []
_seconds = 0.0
_began = 0.0
_depth = 0


def compiling() -> bool:
    """Does this process compile, or load what is compiled, right now?"""
    return _depth > 0


def compile_seconds() -> float:
    """How long this process has been compiling and loading in all, so far."""
    return _seconds + (time.perf_counter() - _began if _depth else 0.0)


def clock() -> float:
    """`time.perf_counter`, but for a clock that stands still while this process compiles."""
    return time.perf_counter() - compile_seconds()


def when_compiling(listener: Callable[[float], object]) -> None:
    """Call `listener` whenever something begins to compile, with the seconds it takes, roughly."""
    if listener not in _listeners:
        _listeners.append(listener)


@contextmanager
def told_of_pauses(
    clock_stops: Callable[[], object], clock_goes_on: Callable[[], object]
) -> Iterator[None]:
    """Within, call these whenever the `clock` stops and goes on: for who has a clock of his own."""
    _before.append(clock_stops)
    _after.append(clock_goes_on)
    try:
        yield
    finally:
        _before.remove(clock_stops)
        _after.remove(clock_goes_on)


@contextmanager
def not_counted(about: float = 0.0) -> Iterator[None]:
    """What is done within counts as compiling: importing the compiler, loading from the disk."""
    begin(about)
    try:
        yield
    finally:
        end()


def begin(about: float = 0.0) -> None:
    """Something is compiled from now on, perhaps in the midst of something else."""
    global _began, _depth
    if not _depth:
        _began = time.perf_counter()
        for hook in _before:
            hook()
    _depth += 1
    if about:
        for listener in _listeners:
            listener(about)


def end() -> None:
    global _seconds, _depth
    _depth -= 1
    if not _depth:
        _seconds += time.perf_counter() - _began
        for hook in _after:
            hook()
