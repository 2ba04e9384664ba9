"""Many formulas at once in a clause's solver, each with a switch; made for dropping candidates."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from ..terms import numeral, symbol
from ._atoms import Atom, Dnf
from ._conditions import Conditions, Model


class Selection:
    """A clause whose premises and conclusions can be switched on and off without rebuilding.

    The formulas are handed over as text: the solver's own parser reads hundreds of them in the
    time that its Python interface needs for a few.
    """

    def __init__(
        self,
        conditions: Conditions,
        clause: int,
        given: Sequence[Dnf],
        premises: Sequence[Dnf],
        conclusions: Sequence[Dnf],
    ):
        self._conditions = conditions
        self._clause = clause
        context = conditions.context
        self._on = [z3.Bool(f"on!{i}", context) for i in range(len(premises))]
        self._broken = [z3.Bool(f"broken!{i}", context) for i in range(len(conclusions))]
        self._off = [z3.Not(flag) for flag in self._broken]
        self._solver = conditions.open(clause, given, [])
        source, target = conditions.names_of(clause)
        lines = [f"(declare-const {symbol(name)} Int)" for name in {*source, *target}]
        for kind, formulas in (("on", premises), ("broken", conclusions)):
            lines += [f"(declare-const {kind}!{i} Bool)" for i in range(len(formulas))]
        for i, dnf in enumerate(premises):
            lines.append(f"(assert (=> on!{i} {dnf_text(dnf, source)}))")
        for i, dnf in enumerate(conclusions):
            lines.append(f"(assert (=> broken!{i} (not {dnf_text(dnf, target)})))")
        if conclusions:
            some = " ".join(f"broken!{i}" for i in range(len(conclusions)))
            lines.append(f"(assert (or {some}))")
        self._solver.add(z3.parse_smt2_string("\n".join(lines), ctx=context))

    def violation(self, premises: Sequence[bool], conclusions: Sequence[bool]) -> Model | None:
        """A model in which the switched-on premises hold and a switched-on conclusion fails."""
        assumed = [flag for flag, on in zip(self._on, premises, strict=True) if on]
        assumed += [flag for flag, on in zip(self._off, conclusions, strict=True) if not on]
        if self._conditions.check(self._solver, *assumed) == "unsat":
            return None
        return self._conditions.model(self._solver, self._clause)

    def close(self) -> None:
        self._solver.pop()


def dnf_text(dnf: Dnf, names: Sequence[str]) -> str:
    """A formula in SMT-LIB over these names."""
    cubes = []
    for cube in dnf:
        atoms = [_atom_text(atom, names) for atom in cube]
        cubes.append(atoms[0] if len(atoms) == 1 else f"(and true {' '.join(atoms)})")
    return cubes[0] if len(cubes) == 1 else f"(or false {' '.join(cubes)})"


def _atom_text(atom: Atom, names: Sequence[str]) -> str:
    parts = [
        symbol(n) if c == 1 else f"(* {numeral(c)} {symbol(n)})"
        for c, n in zip(atom.vector, names, strict=True)
        if c
    ]
    total = parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
    if atom.modulus:
        total = f"(mod {total} {atom.modulus})"
    if atom.relation == 2:
        return f"(not (= {total} {numeral(atom.constant)}))"
    return f"({'<=' if atom.relation == 0 else '='} {total} {numeral(atom.constant)})"
