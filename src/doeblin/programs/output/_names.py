"""Invariants at places of the source, in the names that are in scope there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..._errors import InputError, Place
from ..._text import visible
from .._program import Program
from ..system import Cells, Extra, Graph, Loop
from ..system.terms import Term, c_text, disj, variables
from ..verdict import Outcome, Verdict


class Located(NamedTuple):
    """A loop of the source and its invariant; `names` shows the graph's variables as C does."""

    loop: Loop
    blocks: tuple[int, ...]
    formula: Term
    names: Callable[[str], str]
    cells: Cells | None = None  # where it speaks of any one place of arrays


def graph_of(program: Program, verdict: Verdict, wanted: Outcome, what: str) -> Graph:
    """The graph that the verdict is about, if the program is C and the verdict the one needed."""
    if program.graph is None:
        raise InputError(f"{what} is for C programs; {program.file} is not one")
    if verdict.outcome is not wanted:
        raise InputError(
            f"{what} needs the verdict {wanted.value}, but {program.file} is "
            f"{verdict.outcome.value}"
        )
    proved = verdict.proved or program
    graph = proved.graph or program.graph
    if proved.system.floating and wanted is Outcome.SAFE:
        raise InputError(
            f"{what} of a program with floating point is not available; --certificate has the proof"
        )
    if graph.procedures and wanted is Outcome.SAFE:
        known = dict.fromkeys(one.shown for one in graph.procedures.values())
        names = ", ".join(f"'{name}'" for name in known)
        raise InputError(
            f"{what} of recursive functions ({names}) is not available; --certificate has the proof"
        )
    return graph


def located(graph: Graph, verdict: Verdict) -> list[Located]:
    """The invariants that can be written down at their loop, if it is in the file itself.

    A loop in a function that was inlined several times has several invariants; at its place holds
    their disjunction. One that speaks of a caller's variables cannot be written there.
    """
    groups: dict[Place, list[tuple[Loop, int, Term]]] = {}
    cuts = verdict.proved.system.cuts if verdict.proved is not None else ()
    cells = {cut.block: cut.cells for cut in cuts}
    for invariant in verdict.invariants:
        loop = graph.loops.get(invariant.block)
        if loop is not None and loop.place.file == verdict.file:
            groups.setdefault(loop.place, []).append((loop, invariant.block, invariant.formula))
    found = []
    for group in groups.values():
        loop = group[0][0]
        shown: dict[str, str] = {}
        for other, _, _ in group:
            shown |= {unique: name for name, unique in other.scope.items()}
        about = cells.get(group[0][1])
        if about is not None and len(group) == 1 and about.at not in loop.scope:
            named = {n: shown[held] for held, n in about.of.items() if held in shown}
            shown |= {n: f"{held}[{about.at}]" for n, held in named.items()}
            shown[about.at] = about.at
            shown |= {e.name: t for e in about.more if (t := _extra(e, shown)) is not None}
        if all(variables(formula) <= shown.keys() for _, _, formula in group):
            formula = disj(formula for _, _, formula in group)
            blocks = tuple(block for _, block, _ in group)
            if about is not None and not set(about.names) & variables(formula):
                about = None
            found.append(Located(loop, blocks, formula, lambda n, s=shown: s[n], about))
    return sorted(found, key=lambda item: (item.loop.place.line or 0, item.loop.place.column or 0))


def _extra(extra: Extra, shown: dict[str, str]) -> str | None:
    """A cell at another place, or a sum of cells, in ACSL; None where it has no name there."""
    if extra.array not in shown or not variables(extra.index) <= shown.keys():
        return None
    index = c_text(extra.index, lambda name: shown[name], acsl=True)
    if extra.kind == "cell":
        return f"{shown[extra.array]}[{index}]"
    bound = "q"
    while bound in shown.values():
        bound += "q"
    return f"\\sum(0, {index} - 1, \\lambda integer {bound}; {shown[extra.array]}[{bound}])"


def lines_of(text: str) -> list[str]:
    """The lines as C counts them, with their ends: a form feed does not end one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def commented(text: str) -> str:
    """Text of others inside a comment of C or SMT-LIB: one line that does not end the comment."""
    return visible(text).replace("*/", "* /").replace("\\\n", " ").replace("??/", "? ?/")


class Edits:
    """Changes of a text at lines and columns, applied together."""

    def __init__(self, text: str):
        self.text = text
        self._lines = lines_of(text)
        self._inserts: list[tuple[int, int, str, int]] = []

    def line(self, number: int) -> str:
        return self._lines[number - 1].rstrip("\r\n") if number <= len(self._lines) else ""

    def word(self, place: Place) -> str:
        """The identifier that begins at `place`, if one does."""
        found = re.match(r"\w+", self.line(place.line or 1)[(place.column or 1) - 1 :])
        return found[0] if found else ""

    def past_label(self, place: Place) -> Place:
        """Where a jump to the label at `place` arrives; `place` itself if there is none."""
        label = re.match(r"\w+\s*:\s*", self.line(place.line or 1)[(place.column or 1) - 1 :])
        return Place(place.file, place.line, (place.column or 1) + (label.end() if label else 0))

    def begins_statement(self, place: Place) -> bool:
        """Can an annotation stand at `place`? Not in the midst of an expression."""
        head = "".join(self._lines[: (place.line or 1) - 1])
        head += self.line(place.line or 1)[: (place.column or 1) - 1]
        head = re.sub(r"//[^\n]*|/\*.*?\*/", " ", head, flags=re.DOTALL).rstrip()
        return not head or head[-1] in "{};:)" or re.search(r"\b(else|do)$", head) is not None

    def insert(self, place: Place, text: str, *, shift: int = 0) -> None:
        """Before the character at `place`, or `shift` characters after it."""
        self._inserts.append((place.line or 1, (place.column or 1) - 1 + shift, text, 0))

    def replace(self, place: Place, length: int, text: str) -> None:
        """So many characters from `place` on."""
        self._inserts.append((place.line or 1, (place.column or 1) - 1, text, length))

    def before(self, place: Place, text: str) -> None:
        """On a line of its own when `place` is the first thing on its line."""
        start = self.line(place.line or 1)[: (place.column or 1) - 1]
        self.insert(place, f"{text}\n{start}" if not start.strip() else f"{text} ")

    def result(self) -> str:
        lines = list(self._lines)
        for number, column, text, length in sorted(self._inserts, reverse=True):
            if number <= len(lines):
                line = lines[number - 1]
                lines[number - 1] = line[:column] + text + line[column + length :]
        return "".join(lines)


def defined(name: str, text: str, *, macro: bool = False) -> bool:
    """Does the text define a function of this name, or a macro? Of `macro`s only: the latter."""
    if re.search(rf"^\s*#\s*define\s+{name}\b", text, re.MULTILINE):
        return True
    return not macro and bool(re.search(rf"\b{name}\s*\([^)]*\)\s*\{{", text))


def parameters(text: str, name: str, file: str) -> tuple[Place, Place]:
    """Between which places a function that the text defines declares its parameters."""
    found = re.search(rf"\b{name}\s*(\([^)]*\))\s*\{{", text) if name else None
    start, end = found.span(1) if found else (0, 0)
    return _at(text, start, file), _at(text, end, file)


def closing(text: str, place: Place) -> tuple[Place, str] | None:
    """The `)` of the call that begins at `place`, and what stands between its brackets."""
    lines = lines_of(text)
    if not place.line or place.line > len(lines):
        return None
    start = sum(map(len, lines[: place.line - 1])) + (place.column or 1) - 1
    opening = text.find("(", start)
    depth = 0
    for index in range(opening, len(text)) if opening >= 0 else ():
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return _at(text, index, place.file), text[opening + 1 : index]
    return None


def _at(text: str, index: int, file: str) -> Place:
    return Place(file, text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index))


def following(text: str, place: Place) -> Place | None:
    """Where the statement after the declaration at `place` begins, if one follows."""
    lines = lines_of(text)
    if not place.line or place.line > len(lines):
        return None
    index = text.find(";", sum(map(len, lines[: place.line - 1])) + (place.column or 1) - 1)
    if index < 0:
        return None
    gap = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL).match(text, index + 1)
    start = gap.end() if gap else index + 1
    if start >= len(text) or text[start] in "})":
        return None
    return _at(text, start, place.file)
