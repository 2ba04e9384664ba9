"""The source annotated in ACSL, ready for Frama-C."""

from __future__ import annotations

from collections.abc import Iterator

from ..._errors import InputError, Place
from .._program import Program
from ..frontends.c import FAILURES
from ..system import Assign, Fill, Graph, Havoc, Store, shown_formula
from ..system.terms import c_text
from ..verdict import Outcome, Verdict, stated
from ._claims import Claim, claims
from ._formula import Untranslated, formula
from ._names import Edits, closing, commented, defined, graph_of, located


def acsl(program: Program, verdict: Verdict) -> str:
    """The C text with a `loop invariant` and `loop assigns` at every loop.

    Assertions become an ACSL `assert`, and assumptions (in functions without body) an `admit`.
    Numbers are mathematical there: a condition is translated by its meaning, and one that has no
    faithful form is left to the C code, which the first lines of the text say.
    """
    graph = graph_of(program, verdict, Outcome.SAFE, "an ACSL annotation")
    if graph.floating is not None:  # its conditions would be about real numbers
        raise InputError(f"there is floating point at {graph.floating}, which ACSL reads otherwise")
    edits = Edits(program.text)
    left = []
    found = located(graph, verdict)
    for item in found:
        text = shown_formula(
            item.formula,
            item.cells,
            lambda term, item=item: c_text(term, item.names, acsl=True),
            acsl=True,
        )
        if item.loop.keyword == "goto":
            edits.before(item.loop.place, f"/*@ assert {text}; */")
            continue
        parts = item.loop.parts
        here = {*item.loop.scope.values(), *parts}
        changed = sorted(_assigned(graph, item.blocks) & here)
        named = (
            parts.get(n) or (f"{item.names(n)}[..]" if n in graph.arrays else item.names(n))
            for n in changed
        )
        shown = ", ".join(dict.fromkeys(named)) or "\\nothing"
        edits.before(item.loop.place, f"/*@ loop invariant {text}; loop assigns {shown}; */")
    written = {item.loop.place for item in found}
    for invariant in verdict.invariants:
        loop = graph.loops.get(invariant.block)
        if loop is None or loop.place not in written:
            where = f"the invariant at {invariant.place}"
            left.append(f"{where}: it speaks of variables that are not in scope there")
    for place, claim in claims(_readings(program), edits).items():
        try:
            text = _formula(program, edits, place, claim)
        except Untranslated as reason:
            left.append(f"the {claim.says} at {place}: {reason}")
        else:
            edits.before(edits.past_label(place), f"/*@ {claim.clause} {text}; */")
    return _head(verdict, left) + edits.result()


def _head(verdict: Verdict, left: list[str]) -> str:
    said = f"Proved by doeblin. {stated(verdict)}"
    if left:
        said += "\n   Not written in ACSL, and left to the C code:"
        said += "".join(f"\n   - {commented(line)}" for line in dict.fromkeys(left))
    return f"/* {said} */\n"


def _readings(program: Program) -> Iterator[Graph]:
    """What an annotation must agree with: C and, if those were asked for, mathematical integers.

    Where signed overflow is a failure, conditions are cut into pieces; C's reading has them whole.
    """
    for reading in (program.under("c"), *([program] if program.ints == "math" else ())):
        if reading.graph is not None:
            yield reading.graph


def _formula(program: Program, edits: Edits, place: Place, claim: Claim) -> str:
    """What ACSL says of an assertion, an assumption, or a place that must not be reached."""
    if place.file != program.file:
        raise Untranslated("it is in another file")
    if not edits.begins_statement(place):
        raise Untranslated("it stands within an expression")
    word = edits.word(place)
    if defined(word, program.text, macro=True) or '#include "' in program.text:
        raise Untranslated(f"'{word}' may be a macro")
    if claim.meanings is None:
        if word not in FAILURES and edits.past_label(place) == place:
            raise Untranslated(f"'{word}' fails somewhere within")
        return "\\false"
    call = closing(program.text, place)
    if call is None or not word:
        raise Untranslated("it is no plain call")
    return formula(call[1], claim.meanings)


def _assigned(graph: Graph, heads: tuple[int, ...]) -> set[str]:
    """The variables that the loops at these heads may change."""
    before = graph.predecessors()
    found: set[str] = set()
    for head in heads:
        forward = _closure({head}, graph.successors)
        backward = _closure({head}, lambda i: before.get(i, ()))
        for index in forward & backward:
            for statement in graph.blocks[index].statements:
                if isinstance(statement, Assign | Havoc):
                    found.add(statement.name)
                elif isinstance(statement, Store | Fill):
                    found.add(statement.array)
    return found


def _closure(start: set[int], following) -> set[int]:
    seen, todo = set(start), list(start)
    while todo:
        for target in following(todo.pop()):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen
