"""Hints: C conditions over a loop's variables, tried as parts of its invariant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pycparser import CParser, c_ast
from pycparser.c_parser import ParseError

from .._errors import InputError, Place
from ..linear import Dnf
from ._program import Program
from .frontends.c import LLONG, Expressions, Slot, Unsupported, tokenize
from .learner import dnf_of
from .system import Cut, System

_ASSIGNING = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
)


def parse_hints(program: Program, hints: Sequence[str], system: System) -> list[list[Dnf]]:
    """For each cut point of a system the hints that speak of its variables only."""
    found = [_suggested(program, cut) for cut in system.cuts]
    for hint in hints:
        used = False
        tree = check_hint(hint)
        for number, cut in enumerate(system.cuts):
            names = dict(zip(cut.shown, cut.variables, strict=True))
            reader = Expressions([Place("<hint>")], "<hint>", wraps="none")
            reader.scopes = [{shown: Slot(LLONG, name) for shown, name in names.items()}]
            if not _names(tree) <= names.keys():
                continue
            used = True
            try:
                dnf = dnf_of(reader.rvalue(tree).truth(), cut.variables, most=32)
            except Unsupported as reason:
                raise InputError(f"the hint '{hint}' cannot be used: {reason}") from None
            if dnf is None:
                raise InputError(
                    f"the hint '{hint}' is not a combination of at most 32 cases of linear "
                    "comparisons, e.g. 'x <= 2*y + 1 && z % 2 == 0'; several hints may be given"
                )
            found[number].append(dnf)
        if not used:
            known = sorted({name for cut in program.system.cuts for name in cut.shown})
            raise InputError(
                f"the hint '{hint}' fits no loop of {program.file}; variables there: "
                f"{', '.join(known) or 'none'}"
            )
    return found


def _suggested(program: Program, cut: Cut) -> list[Dnf]:
    """What the program's own annotations say of a loop, as far as it is of use."""
    loop = program.graph.loops.get(cut.block) if program.graph is not None else None
    found = []
    for hint in loop.hints if loop is not None else ():
        for part in hint.args if hint.op == "and" else (hint,):
            dnf = dnf_of(part, cut.variables, most=32)
            if dnf is not None:
                found.append(dnf)
    return found


def check_hint(hint: str) -> Any:
    """The tree of a hint, which must be a C condition that changes nothing."""
    for token in tokenize(hint, "--hint"):
        if token.text in _ASSIGNING:
            better = f"write '==' to compare, as in '{_compared(hint)}'"
            if token.text != "=":
                better = "say what holds, e.g. 'x <= y + 1'"
            raise InputError(
                f"the hint '{hint}' changes a variable ('{token.text}'), but a hint is a "
                f"condition: {better}",
                place=token.place,
            )
    try:
        tree = CParser().parse(f"int hint(void) {{ return ({' '.join(hint.split())}); }}", "<hint>")
        found = tree.ext[0].body.block_items[0].expr
    except (ParseError, AttributeError, IndexError):
        found = None
    if found is None or isinstance(found, c_ast.ExprList):
        raise InputError(f"the hint '{hint}' is not a C condition, e.g. 'x <= y + 1'") from None
    return found


def _compared(hint: str) -> str:
    return re.sub(r"(?<![=!<>])=(?!=)", "==", hint)


def _names(node: Any) -> set[str]:
    if isinstance(node, c_ast.ID):
        return {node.name}
    return {name for _, child in node.children() for name in _names(child)}
