"""What a program claims: where it fails, that this is not so."""

from __future__ import annotations

from collections.abc import Iterable

from ...linear import Dnf
from ..learner import dnf_of
from ..system import Clause, Cut, Premise, System
from ..system.terms import conj, variables

_MOST = 12
_CUBES = 32  # of a failure


def claims_of_cells(system: System, cut: Cut) -> list[Dnf]:
    """What is claimed of cells that are read, of a cut's variables that stand for any one cell."""
    found: dict[Dnf, None] = {}
    for clause in system.clauses:
        if clause.target is not None or cut.cells is None:
            continue
        for premise in clause.premises:
            source = system.cuts[premise.cut]
            if source.cells is not None:
                cells = source.cells.local - {source.cells.at}
                own = dict(zip(premise.names, source.variables, strict=True))
                about = {name for name, base in own.items() if base in cells}
                found |= dict.fromkeys(_claimed(clause, premise, about, own, cut))
    return list(found)[:_MOST]


def claims(system: System, number: int) -> list[Dnf]:
    """What is claimed of a cut's plain variables."""
    cut = system.cuts[number]
    plain = {*cut.variables} - {*(cut.cells.names if cut.cells is not None else ())}
    own = {name: name for name in plain}
    found: dict[Dnf, None] = {}
    for clause in system.clauses:
        if clause.target is None and clause.source == number:
            found |= dict.fromkeys(_claimed(clause, clause.premises[0], plain, own, cut))
    return list(found)[:_MOST]


def _claimed(
    clause: Clause, premise: Premise, about: set[str], own: dict[str, str], cut: Cut
) -> Iterable[Dnf]:
    """That what a failure says about some of a premise's variables is not so, whatever else it
    says; `own` are the names that a cut has for them."""
    places = {name: place for place, name in enumerate(cut.variables)}
    parts = clause.constraint.args if clause.constraint.op == "and" else (clause.constraint,)
    mine = [part for part in parts if about & variables(part) and variables(part) <= own.keys()]
    for cube in dnf_of(conj(mine), premise.names, most=_CUBES) or ():
        claimed: Dnf = ()
        for atom in cube:
            used = {name: c for name, c in zip(premise.names, atom.coefficients, strict=True) if c}
            if about & used.keys() and all(own[name] in places for name in used):
                vector = [0] * len(places)
                for name, factor in used.items():
                    vector[places[own[name]]] = factor
                moved = atom._replace(coefficients=tuple(vector))
                claimed += tuple((part,) for part in moved.negated())
        if claimed:
            yield claimed
