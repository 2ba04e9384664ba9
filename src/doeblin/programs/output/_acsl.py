"""The source annotated in ACSL, ready for Frama-C."""

from __future__ import annotations

import re

from ..._errors import Place
from .._program import Program
from ..frontends.c import ASSERTIONS
from ..system import Assign, Assume, Fail, Graph, Havoc
from ..system.terms import c_text
from ..verdict import Outcome, Verdict, stated
from ._names import Edits, closing, graph_of, located

_PROPERTY = ("assertion", "label", "call of")  # failures that the program itself declares


def acsl(program: Program, verdict: Verdict) -> str:
    """The C text with a `loop invariant` and `loop assigns` at every loop.

    Assertions become an ACSL `assert`, and assumptions (in functions without body) an `admit`.
    """
    graph = graph_of(program, verdict, Outcome.SAFE, "an ACSL annotation")
    edits = Edits(program.text)
    for item in located(graph, verdict):
        text = c_text(item.formula, item.names, acsl=True)
        if item.loop.keyword == "goto":
            edits.before(item.loop.place, f"/*@ assert {text}; */")
            continue
        changed = sorted(_assigned(graph, item.blocks) & set(item.loop.scope.values()))
        shown = ", ".join(dict.fromkeys(item.names(name) for name in changed)) or "\\nothing"
        edits.before(item.loop.place, f"/*@ loop invariant {text}; loop assigns {shown}; */")
    for place, (clause, conditional) in _claims(graph, edits).items():
        if place.file != program.file:
            continue
        text = "\\false"
        if conditional:
            call = closing(program.text, place)
            text = " ".join(call[1].split()) if call and _logical(call[1]) else ""
        if text and edits.begins_statement(place):
            edits.before(edits.past_label(place), f"/*@ {clause} {text}; */")
    head = f"/* Proved by doeblin. {stated(verdict)} */\n"
    return head + edits.result()


def _claims(graph: Graph, edits: Edits) -> dict[Place, tuple[str, bool]]:
    """Where ACSL has something to prove or to take, and whether it is the condition of a call.

    Otherwise it is a place that must not be reached.
    """
    found: dict[Place, tuple[str, bool]] = {}
    for block in graph.blocks:
        for statement in block.statements:
            if isinstance(statement, Assume) and statement.place is not None:
                found[statement.place] = ("admit", True)
        end = block.end
        if isinstance(end, Fail) and end.place is not None and end.what.startswith(_PROPERTY):
            found[end.place] = ("assert", edits.word(end.place) in ASSERTIONS)
    return found


def _logical(text: str) -> bool:
    """Is the condition free of side effects and calls, so that it can stand in a specification?"""
    plain = re.sub(r"[<>=!]=", "<", text)
    return not re.search(r"=|\+\+|--|[A-Za-z_]\w*\s*\(|//|/\*|\"", plain)


def _assigned(graph: Graph, heads: tuple[int, ...]) -> set[str]:
    """The variables that the loops at these heads may change."""
    before: dict[int, list[int]] = {}
    for index in range(len(graph.blocks)):
        for target in graph.successors(index):
            before.setdefault(target, []).append(index)
    found: set[str] = set()
    for head in heads:
        forward = _closure({head}, graph.successors)
        backward = _closure({head}, lambda i: before.get(i, ()))
        for index in forward & backward:
            for statement in graph.blocks[index].statements:
                if isinstance(statement, Assign | Havoc):
                    found.add(statement.name)
    return found


def _closure(start: set[int], following) -> set[int]:
    seen, todo = set(start), list(start)
    while todo:
        for target in following(todo.pop()):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen
