"""Hints: conditions over a loop's variables, tried as parts of its invariant.

They are C, or ACSL where they speak of arrays: `\\forall integer k; 0 <= k < i ==> a[k] == 0`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pycparser import CParser, c_ast
from pycparser.c_parser import ParseError

from .._errors import InputError, Place
from ..linear import Dnf
from ._program import Program
from .frontends.c import (
    BOUND,
    LLONG,
    Expressions,
    Formula,
    Names,
    NotUnderstood,
    Slot,
    Unsupported,
    clauses,
    parts,
    tokenize,
)
from .learner import dnf_of
from .system import Cut, System
from .system.terms import (
    Term,
    add,
    alike,
    array,
    fold,
    postorder,
    rebuild,
    select,
    substitute,
    var,
    variables,
)

_ASSIGNING = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
)
_LONGEST = 500  # words of a hint; what nests deeper than this is not for people
Reading = Callable[[Cut], Term | None]
"""What a hint says at a cut; None if it speaks of what is not there."""


def parse_hints(program: Program, hints: Sequence[str], system: System) -> list[list[Dnf]]:
    """For each cut point of a system the hints that speak of its variables only."""
    found = [list(_suggested(program, cut)) for cut in system.cuts]
    for hint in hints:
        said = read_hint(hint)
        for mine, cut in zip(found, system.cuts, strict=True):
            term = said(cut)
            dnf = dnf_of(term, cut.variables, most=32) if term is not None else ()
            if dnf is None:
                raise InputError(
                    f"the hint '{hint}' is not a combination of at most 32 cases of linear "
                    "comparisons, e.g. 'x <= 2*y + 1 && z % 2 == 0'; several hints may be given"
                )
            if term is not None:
                mine.append(dnf)
        if all(said(cut) is None for cut in program.system.cuts):
            known = sorted({name for cut in program.system.cuts for name in cut.shown})
            raise InputError(
                f"the hint '{hint}' fits no loop of {program.file}; variables there: "
                f"{', '.join(known) or 'none'}"
            )
    return found


def _suggested(program: Program, cut: Cut) -> Iterable[Dnf]:
    """What the program's own annotations say of a loop, as far as it is of use."""
    loop = program.graph.loops.get(cut.block) if program.graph is not None else None
    for hint in loop.hints if loop is not None else ():
        for part in hint.args if hint.op == "and" else (hint,):
            term = _by_cells(part, cut)
            dnf = dnf_of(term, cut.variables, most=32) if term is not None else None
            if dnf is not None:
                yield dnf


def read_hint(hint: str) -> Reading:
    """A hint, which must be a condition that changes nothing."""
    words = [word for clause in clauses(Place("--hint"), [*tokenize(hint, "--hint")])
             for word in clause.words]  # fmt: skip
    for word in words:
        if word.text in _ASSIGNING:
            better = f"write '==' to compare, as in '{_compared(hint)}'"
            if word.text != "=":
                better = "say what holds, e.g. 'x <= y + 1'"
            raise InputError(
                f"the hint '{hint}' changes a variable ('{word.text}'), but a hint is a "
                f"condition: {better}",
                place=word.place,
            )
    if len(words) > _LONGEST:
        raise InputError(f"a hint of {len(words)} words is too long: at most {_LONGEST} are read")
    if any(word.text in ("[", "==>", "<==>", f"{BOUND}forall") for word in words):
        return _of_cells(hint, words)
    return _condition(hint)


def _condition(hint: str) -> Reading:
    """A condition in C."""
    try:
        tree = CParser().parse(f"int hint(void) {{ return ({' '.join(hint.split())}); }}", "<hint>")
        found = tree.ext[0].body.block_items[0].expr
    except (ParseError, AttributeError, IndexError):
        found = None
    if found is None or isinstance(found, c_ast.ExprList):
        raise InputError(f"the hint '{hint}' is not a C condition, e.g. 'x <= y + 1'") from None
    used = {part.name for part in parts(found) if isinstance(part, c_ast.ID)}

    def said(cut: Cut) -> Term | None:
        names = _shown(cut)
        if not used <= names.keys():
            return None
        reader = Expressions([Place("<hint>")], "<hint>", wraps="none")
        reader.scopes = [{shown: Slot(LLONG, name) for shown, name in names.items()}]
        try:
            return reader.rvalue(found).truth()
        except Unsupported as reason:
            raise InputError(f"the hint '{hint}' cannot be used: {reason}") from None

    return said


def _of_cells(hint: str, words: list[Any]) -> Reading:
    """A formula in ACSL, which may be about all cells of an array."""
    missing: list[str] = []

    def within(names: dict[str, str], held: dict[str, str] | None) -> Term:
        def value(name: str) -> Term:
            if name not in names and held is not None:
                missing.append(name)
            return var(names.get(name, name))

        def cell(name: str, index: Term) -> Term:
            if held is not None and name not in held:
                missing.append(name)
            return select(array((held or {}).get(name, name)), index)

        try:
            return Formula(words, Names(value, lambda name: None, cell=cell)).truth()
        except NotUnderstood as reason:
            raise InputError(
                f"the hint '{hint}' is not understood ({reason}); a hint about arrays is, e.g., "
                "'\\forall integer k; 0 <= k < i ==> a[k] <= x'"
            ) from None

    def said(cut: Cut) -> Term | None:
        held = {bank.shown: bank.name for bank in cut.arrays}
        missing.clear()
        term = within(_shown(cut), held)
        return _by_cells(term, cut) if not missing else None

    free = within({}, None)  # where no loop is, it is read as well
    if len(_bound(free)) > 1:
        raise InputError(
            f"the hint '{hint}' is about two indices at a time; a proof looks at one, and at what "
            "is beside it: '\\forall integer k; 0 <= k < n - 1 ==> a[k] <= a[k + 1]'"
        )
    return said


def _shown(cut: Cut) -> dict[str, str]:
    """The program's own variables at a cut, by the names that people know."""
    about = cut.cells.names if cut.cells is not None else ()
    return {
        shown: name
        for shown, name in zip(cut.shown, cut.variables, strict=True)
        if name not in about
    }


def _by_cells(term: Term, cut: Cut) -> Term | None:
    """What is said for all indices, said of the one that a cut's cells are looked at; None if that
    is not enough."""
    bound = _bound(term)
    if cut.cells is None or len(bound) > 1:
        return None if bound or _selects(term) else term
    at: dict[str, list[tuple[Term, str]]] = {}
    bases: dict[str | None, None] = {}
    for bank in cut.arrays:
        base = var(bank.base) if bank.base is not None else None
        known = [(var(cut.cells.at), cut.cells.of[bank.name])]
        known += [
            (e.index, e.name) for e in cut.cells.more if (e.array, e.kind) == (bank.name, "cell")
        ]
        at[bank.name] = [(add(base, index) if base else index, name) for index, name in known]
        bases[bank.base] = None
    for base in bases or {None: None}:
        here = var(cut.cells.at)
        place = add(var(base), here) if base is not None else here
        found = _named(substitute(term, {name: place for name in bound}), at)
        if not _selects(found):
            return found
    return None


def _named(term: Term, at: dict[str, list[tuple[Term, str]]]) -> Term:
    """With variables for those cells that are known by one."""

    def combine(node: Term, args: list[Term]) -> Term:
        if node.op == "select" and args[0].op == "array":
            for index, name in at.get(args[0].leaf, ()):
                if alike(index, args[1]):
                    return var(name)
        return rebuild(node, args) if args else node

    return fold(term, combine)


def _bound(term: Term) -> list[str]:
    return [name for name in variables(term) if name.startswith(BOUND)]


def _selects(term: Term) -> bool:
    return any(node.op == "select" for node in postorder(term))


def _compared(hint: str) -> str:
    return re.sub(r"(?<![=!<>])=(?!=)", "==", hint)
