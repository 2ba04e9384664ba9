"""A way to a failure, as steps by clause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..system import Clause


@dataclass(frozen=True, slots=True)
class Path:
    """A way to a failure: inputs of a concrete run so far (`prefix`), then steps by clause.

    `prefix` are the values of a run's inputs in order; each step gives the values of the clause's
    variables and inputs. `turns` says how often each step is taken (once, when it is empty).
    """

    steps: tuple[tuple[int, dict[str, int]], ...]
    prefix: tuple[int, ...] = ()
    arrivals: int = 0
    turns: tuple[int, ...] = ()
    leaps: tuple[Clause | None, ...] = ()
    """Of a step that is taken many times, the clause that takes all of them at once."""
    premises: tuple[tuple[int, ...], ...] = ()
    """The steps that each step builds on, one for each premise of its clause; when it is empty,
    each builds on the one before it."""

    contents: tuple[dict[int, Callable[[int], int]], ...] = ()
    """Of each step, by site, what the cells of arrays are that take arbitrary values there."""

    def builds_on(self, number: int) -> tuple[int, ...]:
        """The steps before this one that it follows from."""
        if self.premises:
            return self.premises[number]
        return (number - 1,) if number else ()

    @classmethod
    def of_run(cls, inputs: Sequence[int]) -> Path:
        """A run on these inputs, which decide all of it."""
        return cls((), tuple(inputs), 1 << 60)
