"""The strongest part of some candidates that the clauses preserve.

Candidates are dropped until what is left is inductive, jointly at all cut points (the greatest
fixed point that Houdini computes), whatever source they are from. The result is proved, whatever
the search finds later, so the search may build on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...linear import EQ, LE, RELATIONS, Dnf, dnf_holds
from .._tunables import LemmaTunables
from ..learner import LIMIT, fits
from ..solve import Conditions, GaveUp, Pause, Selection, Turns

Place = tuple[int, tuple[int, ...]]
Follow = Callable[[int, tuple[int, ...]], list[Place]]


def prove(
    conditions: Conditions,
    wanted: list[list[Dnf]],
    follow: Follow,
    tunables: LemmaTunables,
) -> Turns[list[list[Dnf]]]:
    """Drop candidates until the rest is preserved by every clause; pauses at each one dropped.

    A state to which a step from within all candidates leads must satisfy what remains, and so must
    all states that follow: `follow(cut, point)` gives some of them, which saves many questions.
    A solver that gives up on a clause costs all candidates of its target.
    """
    system = conditions.system
    left = [_Left(formulas, tunables.few) for formulas in wanted]
    steps = [i for i, c in enumerate(system.clauses) if c.target is not None]
    open_: dict[int, Selection] = {}
    todo = sorted(steps, key=lambda i: bool(system.clauses[i].premises))
    late = conditions.budget.work + tunables.late
    try:
        while todo:
            index = todo.pop(0)
            clause = system.clauses[index]
            target, sources = clause.target, {premise.cut for premise in clause.premises}
            assert target is not None
            changed: set[int] = set()
            while any(left[target].on):
                if index not in open_:
                    premises = clause.at_premises(wanted)
                    open_[index] = Selection(conditions, index, premises, wanted[target])
                slow = conditions.budget.work > late
                patience = tunables.late_patience if slow else tunables.patience
                assumed = [part.on for part in clause.at_premises(left)]
                try:
                    model = open_[index].violation(assumed, left[target].on, patience)
                except GaveUp:
                    # Without an answer nothing can be said of any: fewer are asked once more.
                    left[target].fewer()
                    changed.add(target)
                    continue
                if model is None:
                    break
                changed.add(target)
                left[target].restrict([model.target], sure=True)
                yield Pause.MIDST
                changed |= _drop(left, follow(target, model.target))
            todo += [
                i
                for i in steps
                if i not in (index, *todo)
                and any(premise.cut in changed for premise in system.clauses[i].premises)
            ]
            if sources & changed:
                todo.append(index)
    finally:
        for selection in open_.values():
            selection.close()
    return [part.formulas() for part in left]


def _drop(left: list[_Left], reached: list[Place]) -> set[int]:
    """Switch off what is false in states that are reached; the cuts that lost some."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for cut, point in reached:
        found.setdefault(cut, []).append(point)
    return {cut for cut, points in found.items() if left[cut].restrict(points)}


class _Left:
    """The candidates of a cut point, those still on, and their truth at many points at once."""

    def __init__(self, formulas: list[Dnf], few: int):
        self._formulas = formulas
        self._few = few
        self.on = [True] * len(formulas)
        self._equal = [_equation(dnf) for dnf in formulas]
        self._simple = [
            bool(dnf) and all(len(cube) == 1 and fits(cube[0]) for cube in dnf) for dnf in formulas
        ]
        simple = (dnf for dnf, flag in zip(formulas, self._simple, strict=True) if flag)
        atoms = dict.fromkeys(cube[0] for dnf in simple for cube in dnf)
        number = {atom: i for i, atom in enumerate(atoms)}
        width = max((len(dnf) for dnf in formulas), default=1)
        self._which = np.zeros((len(formulas), width), dtype=np.int64)
        for row, dnf in enumerate(formulas):
            if self._simple[row]:
                codes = [number[cube[0]] for cube in dnf]
                self._which[row] = codes + codes[:1] * (width - len(codes))
        self._vectors = np.array([atom.coefficients for atom in atoms], dtype=np.int64)
        codes = [RELATIONS.index(atom.relation) for atom in atoms]
        self._relation = np.array(codes, dtype=np.int64)[:, None]
        self._constant = np.array([atom.constant for atom in atoms], dtype=np.int64)[:, None]
        self._modulus = np.array([atom.modulus for atom in atoms], dtype=np.int64)[:, None]

    def formulas(self) -> list[Dnf]:
        return [dnf for dnf, on in zip(self._formulas, self.on, strict=True) if on]

    def fewer(self) -> None:
        """Give up on the later half, which is less simple; of the last few, on all but equations
        first, and then on these."""
        on = [i for i, flag in enumerate(self.on) if flag]
        kept = [i for i in on if self._equal[i]]
        if len(on) > self._few:
            kept += on[: len(on) // 2]
        if len(kept) == len(on):
            kept = []
        for i in set(on) - set(kept):
            self.on[i] = False

    def restrict(self, points: Sequence[tuple[int, ...]], *, sure: bool = False) -> bool:
        """Drop what is false at one of the points; was anything? `sure`: large ones count, too."""
        small = [p for p in points if max(map(abs, p), default=0) <= LIMIT]
        if not self._formulas or not (small or sure):
            return False
        false: list[bool] = [False] * len(self.on)
        if small and len(self._vectors):
            truth = self._truth(np.array(small, dtype=np.int64))
            false = np.logical_not(np.logical_and.reduce(truth, axis=1)).tolist()
        large = [p for p in points if max(map(abs, p), default=0) > LIMIT] if sure else []
        changed = False
        for i, dnf in enumerate(self._formulas):
            if not self.on[i]:
                continue
            exact = large if self._simple[i] else [*large, *small]
            if (self._simple[i] and false[i]) or not all(dnf_holds(dnf, p) for p in exact):
                self.on[i] = False
                changed = True
        return changed

    def _truth(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of each formula at each point, where every disjunct is a single atom."""
        values = self._vectors @ points.T
        values = np.where(self._modulus > 0, values % np.maximum(self._modulus, 1), values)
        equal = values == self._constant
        truth = np.where(
            self._relation == RELATIONS.index(LE),
            values <= self._constant,
            np.where(self._relation == RELATIONS.index(EQ), equal, ~equal),
        )
        return np.logical_or.reduce(truth[self._which], axis=1)


def _equation(dnf: Dnf) -> bool:
    return len(dnf) == 1 and len(dnf[0]) == 1 and dnf[0][0].relation == EQ
