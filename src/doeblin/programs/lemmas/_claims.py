"""What a program claims of the cells that it reads: where it fails, that this is not so."""

from __future__ import annotations

from collections.abc import Iterable

from ...linear import Dnf
from ..learner import dnf_of
from ..system import Clause, Cut, System
from ..system.terms import conj, variables

_MOST = 12


def claims(system: System, cut: Cut) -> list[Dnf]:
    """Of a cut's variables that stand for any one cell, in a system that has such."""
    found: dict[Dnf, None] = {}
    for clause in system.clauses:
        if clause.target is None and clause.source is not None:
            found |= dict.fromkeys(_claimed(clause, system.cuts[clause.source], cut))
    return list(found)[:_MOST]


def _claimed(clause: Clause, source: Cut, cut: Cut) -> Iterable[Dnf]:
    """That what a failure says of a cell is not so, whatever else it says."""
    if source.cells is None or cut.cells is None:
        return
    cells = source.cells.local - {source.cells.at}
    places = {name: place for place, name in enumerate(cut.variables)}
    parts = clause.constraint.args if clause.constraint.op == "and" else (clause.constraint,)
    for premise in clause.premises:
        if premise.cut != clause.source:
            continue
        own = dict(zip(premise.names, source.variables, strict=True))
        about = {name for name, base in own.items() if base in cells}
        mine = [part for part in parts if about & variables(part) and variables(part) <= own.keys()]
        for cube in dnf_of(conj(mine), premise.names, most=32) or ():
            claimed: Dnf = ()
            for atom in cube:
                used = [name for name, c in zip(premise.names, atom.coefficients, strict=True) if c]
                if about.isdisjoint(used) or any(own[name] not in places for name in used):
                    continue
                vector = [0] * len(places)
                for name, factor in zip(premise.names, atom.coefficients, strict=True):
                    if factor:
                        vector[places[own[name]]] = factor
                moved = atom._replace(coefficients=tuple(vector))
                claimed += tuple((part,) for part in moved.negated())
            if claimed:
                yield claimed
