"""Many formulas at once in a clause's solver, each with a switch; made for dropping candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...linear import Dnf
from ._atoms import dnf_text
from ._conditions import Conditions, GaveUp, Model, Premises


class Selection:
    """A clause whose premises and conclusions can be switched on and off without rebuilding."""

    def __init__(
        self,
        conditions: Conditions,
        clause: int,
        premises: Premises,
        conclusions: Sequence[Dnf],
    ):
        self._conditions = conditions
        self._clause = clause
        build = conditions.build
        self._on = [
            [build.flag(f"on!{p}!{i}") for i in range(len(formulas))]
            for p, formulas in enumerate(premises)
        ]
        self._broken = [build.flag(f"broken!{i}") for i in range(len(conclusions))]
        self._off = [build.negation(flag) for flag in self._broken]
        self._solver = conditions.open(clause, [], [])
        target = conditions.target_names(clause)
        names = list(target)
        lines: list[str] = []
        found = zip(conditions.system.clauses[clause].premises, premises, strict=False)
        for p, (premise, formulas) in enumerate(found):
            names += premise.names
            for i, dnf in enumerate(formulas):
                lines.append(f"(declare-const on!{p}!{i} Bool)")
                lines.append(f"(assert (=> on!{p}!{i} {dnf_text(dnf, premise.names)}))")
        for i, dnf in enumerate(conclusions):
            lines.append(f"(declare-const broken!{i} Bool)")
            lines.append(f"(assert (=> broken!{i} (not {dnf_text(dnf, target)})))")
        if conclusions:
            some = " ".join(f"broken!{i}" for i in range(len(conclusions)))
            lines.append(f"(assert (or {some}))")
        conditions.add_text(self._solver, names, lines)

    def violation(
        self,
        premises: Sequence[Sequence[bool]],
        conclusions: Sequence[bool],
        patience: float = math.inf,
    ) -> Model | None:
        """A model in which the switched-on premises hold and a switched-on conclusion fails."""
        assumed = [
            flag
            for flags, chosen in zip(self._on, premises, strict=True)
            for flag, on in zip(flags, chosen, strict=True)
            if on
        ]
        assumed += [flag for flag, on in zip(self._off, conclusions, strict=True) if not on]
        if self._conditions.check(self._solver, *assumed, patience=patience) == "unsat":
            return None
        return self._conditions.model(self._solver, self._clause)

    def core(self, conclusion: int | None) -> list[list[int]]:
        """Numbers of formulas, of each premise, that suffice for a conclusion (None: to exclude the
        failure)."""
        assumed = [flag for flags in self._on for flag in flags]
        if conclusion is not None:
            assumed.append(self._broken[conclusion])
        if self._conditions.check(self._solver, *assumed) != "unsat":
            raise GaveUp("a condition that held does not hold any more")
        used = {flag.get_id() for flag in self._solver.unsat_core()}
        return [[i for i, flag in enumerate(flags) if flag.get_id() in used] for flags in self._on]

    def close(self) -> None:
        self._solver.pop()
