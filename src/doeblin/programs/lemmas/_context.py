"""What a source of lemmas may look at, and what a source is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...linear import EQ, LE, Atom, Dnf
from .._tunables import LemmaTunables
from ..learner import Space, fits


@dataclass(frozen=True)
class Context:
    """One cut point: its variables and directions, reachable states (one a row), what is `known`,
    i.e. proved there, and what people suggest. `tick` is called often and may raise."""

    space: Space
    points: NDArray[np.int64]
    known: Sequence[Dnf] = ()
    hints: Sequence[Dnf] = ()
    tunables: LemmaTunables = field(default_factory=LemmaTunables)
    tick: Callable[[], None] = lambda: None

    def within(self, chosen: NDArray[np.bool_]) -> Context:
        """The same with some of the states only."""
        return replace(self, points=self.points[chosen])


Source = Callable[[Context], Iterable[Dnf]]
"""Proposes formulas that may hold in every reachable state; Houdini decides which do."""


def truth(atom: Atom, points: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of an atom at each point."""
    exact = np.int64 if fits(atom) else object
    values = points.astype(exact) @ np.array(atom.coefficients, dtype=exact)
    if atom.modulus:
        values = values % atom.modulus
    if atom.relation == LE:
        return (values <= atom.constant).astype(bool)
    return (values == atom.constant).astype(bool) == (atom.relation == EQ)


def holds(atom: Atom, points: NDArray[np.int64]) -> bool:
    """Is the atom true at all points?"""
    return bool(truth(atom, points).all())


def single(atoms: Iterable[Atom]) -> list[Dnf]:
    """Each atom as a formula of its own."""
    return [((atom,),) for atom in atoms]
