"""Compiling to machine code: whether it goes on, how long it has taken, and whom to tell.

It happens once on a machine, and is nobody's fault: time limits leave it out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[float], object]] = []
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
def told_of_compiling(
    begins: Callable[[], object], is_over: Callable[[], object]
) -> Iterator[None]:
    """Within, call `begins` whenever something begins to compile, and then `is_over`."""
    waiting: list[float] = []

    def on_begin(about: float) -> None:
        if not waiting:
            begins()
        waiting.append(about)

    def on_end() -> None:
        if waiting:
            waiting.clear()
            is_over()

    _listeners.append(on_begin)
    _after.append(on_end)
    try:
        yield
    finally:
        _listeners.remove(on_begin)
        _after.remove(on_end)


@contextmanager
def not_counted() -> Iterator[None]:
    """What is done within counts as compiling: importing the compiler, loading from the disk."""
    begin()
    try:
        yield
    finally:
        end()


def begin(about: float = 0.0) -> None:
    """Something is compiled from now on, perhaps in the midst of something else."""
    global _began, _depth
    if not _depth:
        _began = time.perf_counter()
    _depth += 1
    if about:
        for listener in _listeners:
            listener(about)


def end() -> None:
    global _seconds, _depth
    _depth -= 1
    if not _depth:
        _seconds += time.perf_counter() - _began
        for listener in _after:
            listener()
