"""What a program claims and assumes at its places, as its graphs have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..._errors import Place
from ..system import Assign, Assume, Branch, Fail, Graph, Havoc, Jump, Variable
from ..system.terms import TRUE, Term, negate, substitute, variables
from ._names import Edits, parameters

_DECLARED = ("assertion", "label", "call of")  # failures that the program itself declares


@dataclass(slots=True)
class Claim:
    """An ACSL clause, what it is for, and what graphs say of the condition there: None where it is
    no single term. `meanings` itself is None where the place must not be reached."""

    clause: str
    says: str
    meanings: list[tuple[Term | None, Mapping[str, Variable]]] | None = field(default_factory=list)

    def means(self, term: Term | None, graph: Graph) -> None:
        if self.meanings is not None:
            self.meanings.append((term, graph.variables))


def claims(graphs: Iterable[Graph], edits: Edits) -> dict[Place, Claim]:
    """The assertions, assumptions and forbidden places of a program, by where they stand."""
    found: dict[Place, Claim] = {}
    for graph in graphs:
        before = graph.predecessors()
        for index, block in enumerate(graph.blocks):
            for statement in block.statements:
                if isinstance(statement, Assume) and statement.place is not None:
                    claim = found.setdefault(statement.place, Claim("admit", "assumption"))
                    claim.means(statement.condition, graph)
            end = block.end
            if not isinstance(end, Fail) or end.place is None:
                continue
            if not end.what.startswith(_DECLARED):
                continue
            within = end.at != end.place  # a function of the program's that asserts
            if not within and not end.what.startswith("assertion"):
                found[end.place] = Claim("assert", end.what, None)
                continue
            claim = found.setdefault(end.place, Claim("assert", "assertion"))
            inner = None
            if within:
                inner = parameters(edits.text, edits.word(end.place), end.place.file)
            claim.means(_condition(graph, before, index, inner), graph)
    for claim in found.values():
        # Where one failure follows another, nothing leads to the second.
        telling = [meaning for meaning in claim.meanings or () if meaning[0] is not TRUE]
        if telling:
            claim.meanings = telling
    return found


def _condition(
    graph: Graph, before: dict[int, list[int]], index: int, inner: tuple[Place, Place] | None
) -> Term | None:
    """What must be true for a run not to arrive at a block, at the branch that leads there.

    The parameters of an asserting function, declared between the places `inner`, are replaced by
    the arguments. That no other branch stands before makes the condition the call's.
    """
    came = before.get(index, [])
    while len(came) == 1 and isinstance(graph.blocks[came[0]].end, Jump):
        index, came = came[0], before.get(came[0], [])
    if not came:
        return TRUE
    end = graph.blocks[came[0]].end
    if len(came) > 1 or not isinstance(end, Branch):
        return None
    condition = end.condition if end.no == index else negate(end.condition)
    return condition if inner is None else _at_call(graph, before, came[0], condition, inner)


def _at_call(
    graph: Graph,
    before: dict[int, list[int]],
    index: int,
    term: Term,
    inner: tuple[Place, Place],
) -> Term | None:
    def is_inner(name: str) -> bool:
        place = graph.variables[name].place
        if place is None or place.file != inner[0].file:
            return False
        return _order(inner[0]) <= _order(place) <= _order(inner[1])

    left = {name for name in variables(term) if is_inner(name)}
    if not left:
        return None
    while True:
        for statement in reversed(graph.blocks[index].statements):
            if not isinstance(statement, Assign | Havoc) or statement.name not in variables(term):
                continue
            if isinstance(statement, Havoc) or statement.name not in left:
                return None
            term = substitute(term, {statement.name: statement.value})
            left.discard(statement.name)
            if not left:
                return term
        came = before.get(index, [])
        if len(came) != 1 or not isinstance(graph.blocks[came[0]].end, Jump):
            return None
        index = came[0]


def _order(place: Place) -> tuple[int, int]:
    return (place.line or 0, place.column or 0)
