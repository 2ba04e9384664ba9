"""Many formulas at once in a clause's solver, each with a switch; made for dropping candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import z3

from ...linear import Dnf
from ._atoms import dnf_text
from ._conditions import Conditions, GaveUp, Model


class Selection:
    """A clause whose premises and conclusions can be switched on and off without rebuilding."""

    def __init__(
        self,
        conditions: Conditions,
        clause: int,
        premises: Sequence[Dnf],
        conclusions: Sequence[Dnf],
    ):
        self._conditions = conditions
        self._clause = clause
        context = conditions.context
        self._on = [z3.Bool(f"on!{i}", context) for i in range(len(premises))]
        self._broken = [z3.Bool(f"broken!{i}", context) for i in range(len(conclusions))]
        self._off = [z3.Not(flag) for flag in self._broken]
        self._solver = conditions.open(clause, [], [])
        source, target = conditions.names_of(clause)
        lines: list[str] = []
        for kind, formulas in (("on", premises), ("broken", conclusions)):
            lines += [f"(declare-const {kind}!{i} Bool)" for i in range(len(formulas))]
        for i, dnf in enumerate(premises):
            lines.append(f"(assert (=> on!{i} {dnf_text(dnf, source)}))")
        for i, dnf in enumerate(conclusions):
            lines.append(f"(assert (=> broken!{i} (not {dnf_text(dnf, target)})))")
        if conclusions:
            some = " ".join(f"broken!{i}" for i in range(len(conclusions)))
            lines.append(f"(assert (or {some}))")
        conditions.add_text(self._solver, [*source, *target], lines)

    def violation(
        self, premises: Sequence[bool], conclusions: Sequence[bool], patience: float = math.inf
    ) -> Model | None:
        """A model in which the switched-on premises hold and a switched-on conclusion fails."""
        assumed = [flag for flag, on in zip(self._on, premises, strict=True) if on]
        assumed += [flag for flag, on in zip(self._off, conclusions, strict=True) if not on]
        if self._conditions.check(self._solver, *assumed, patience=patience) == "unsat":
            return None
        return self._conditions.model(self._solver, self._clause)

    def core(self, conclusion: int | None) -> list[int]:
        """Numbers of premises that suffice for a conclusion (None: to exclude the failure)."""
        assumed = list(self._on)
        if conclusion is not None:
            assumed.append(self._broken[conclusion])
        if self._conditions.check(self._solver, *assumed) != "unsat":
            raise GaveUp("a condition that held does not hold any more")
        used = {flag.get_id() for flag in self._solver.unsat_core()}
        return [number for number, flag in enumerate(self._on) if flag.get_id() in used]

    def close(self) -> None:
        self._solver.pop()
