"""C text to a graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pycparser import CParser, c_ast
from pycparser.c_parser import ParseError

from ...._errors import InputError, Place
from ...system import Graph, thread_jumps, without_copies
from ...system.terms import compare, const, var
from ._emitter import NoInteger, Slot
from ._fixed import settle
from ._library import ASSERTIONS, ASSUMPTIONS, FAILURES
from ._procedures import Procedures, called_in, recursive_groups
from ._unsupported import Unsupported
from .text import Preprocessor, Token, clean
from .tree import (
    addressed,
    allocations,
    assigned,
    check_rules,
    indexed_by_constants,
    mentions_floats,
    names_in,
    only_assigned,
)
from .types import Opaque, Points, Wraps

_READINGS = 30  # of what pointers may point to
# Numbers of formats that have suffixes of their own: _Float64, _Decimal64, __float128.
_WIDTHS = r"\.?\d[\w.+-]*?([fF](16|32|64|128)x?|[dD][fFdDlL]|[qQwW])"
_EXTENSIONS = {
    "_Alignof": "'_Alignof' an expression",
    "__builtin_offsetof": "'offsetof'",
    "__builtin_va_arg": "'va_arg'",
    "__builtin_types_compatible_p": "'__builtin_types_compatible_p'",
}


def read_c(text: str, file: str, *, wraps: Wraps = "none", folder: Path | None = None) -> Graph:
    """Parse and lower one C file. Bad C raises InputError, what is not modelled Unsupported."""
    preprocessor = Preprocessor(folder)
    cleaned = clean(preprocessor.run(text, file))
    places = [token.place for token in cleaned.tokens]
    end = places[-1] if places else Place(file, 1, 1)
    parser = CParser()
    try:
        tree = parser.parse("\n".join(token.text for token in cleaned.tokens), file)
        targets = Points()
        check_rules(tree, Procedures(places, file, wraps=wraps).place)
        for _ in range(_READINGS):
            lowering = Procedures(places, file, wraps=wraps)
            lowering.targets = targets
            lowering.noreturn, lowering.renamed = set(cleaned.noreturn), cleaned.renamed
            lowering.promises = cleaned.promises
            lowering.annotations = preprocessor.annotations
            lowering.headers = bool(preprocessor.known or preprocessor.missing)
            lowering.from_header = preprocessor.from_header
            lowering.graph.remarks.missing = dict(preprocessor.missing)
            lowering.graph.remarks.included = preprocessor.included
            try:
                graph = _lower(lowering, tree, file)
            except NoInteger:
                raise Unsupported("floating point", lowering.spot) from None
            more = targets.next()
            if more is None:
                return graph
            targets = more
        raise Unsupported("pointers that lead this far", end)
    except ParseError as error:
        found = _located(str(error), _next_line(parser), places, end)
        found = _unended(cleaned.tokens, places, found)
        if extension := _extension(cleaned.tokens, places, found.place):
            raise extension from None
        raise _misplaced(cleaned.tokens, found.place) or _undeclared(preprocessor, found) from None
    except RecursionError:
        raise Unsupported("nesting this deep", _deepest(cleaned.tokens, file)) from None


def _deepest(tokens: Sequence[Token], file: str) -> Place:
    """Where most brackets are open; the file, where there are hardly any."""
    depth, deepest, place = 0, 20, Place(file)
    for token in tokens:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth > deepest:
            deepest, place = depth, token.place
    return place


def _located(message: str, line: int | None, places: list[Place], end: Place) -> InputError:
    """The parser's message with its line, or else the next token's, turned into a place."""
    match = re.search(r":(\d+)(?::\d+)?: (.*)", message, re.DOTALL)
    if match is not None:
        line, message = int(match.group(1)), match.group(2)
    else:
        message = message.rpartition(": ")[2]
    if line is None:
        return InputError("C syntax error: the file ends too early", place=end)
    place = places[min(line, len(places)) - 1] if places else end
    message = message[:1].lower() + message[1:]
    joint = " " if message.startswith("before") else ": "
    return InputError(f"C syntax error{joint}{message}", place=place)


def _unended(tokens: list[Token], places: list[Place], error: InputError) -> InputError:
    """The same error where its cause is: a line that ends without its semicolon."""
    at = places.index(error.place) if error.place and error.place in places else 0
    before, here = places[at - 1], places[at]
    last = tokens[at - 1].text if 0 < at < len(tokens) else ""
    if before.line == here.line or before.column is None or not re.search(r"[\w\])\"']$", last):
        return error
    end = before._replace(column=before.column + len(last))
    following = f"(before: {tokens[at].text}, line {here.line})"
    message = f"C syntax error after '{last}': is a ';' missing? {following}"
    return InputError(message, place=end)


def _extension(tokens: list[Token], places: list[Place], place: Place | None) -> Exception | None:
    """What compilers take and the parser does not: a few things of GNU C."""
    at = places.index(place) if place is not None and place in places else 0
    before = [token.text for token in tokens[max(0, at - 3) : at + 1]]
    if at < len(tokens) and re.fullmatch(_WIDTHS, tokens[at].text):
        return Unsupported(f"the suffix of '{tokens[at].text}'", places[at])
    for word, what in _EXTENSIONS.items():
        if word in before:
            return Unsupported(what, places[at])
    depth = sum({"{": 1, "}": -1}.get(token.text, 0) for token in tokens[:at])
    if depth and before[-2:] == [")", "{"]:
        return Unsupported("functions within functions", places[at])
    return None


def _misplaced(tokens: list[Token], place: Place | None) -> Unsupported | None:
    """Would the text be C without its annotations? Then one stands where none can."""
    kept = [token for token in tokens if token.kind != "annotation"]
    if len(kept) == len(tokens):
        return None
    try:
        CParser().parse("\n".join(token.text for token in kept))
    except ParseError:
        return None
    return Unsupported("an annotation within an expression or declaration", place or Place(""))


def _undeclared(preprocessor: Preprocessor, error: InputError) -> Exception:
    """A syntax error, unless a header that was not read may have declared a type."""
    if not preprocessor.missing or error.place is None:
        return error
    name = preprocessor.missing[0][0]
    return Unsupported(
        f"this, which the header '{name}' may declare (it was not found),", error.place
    )


def _next_line(parser: CParser) -> int | None:
    """Where the parser stopped: some of its messages do not say. Nothing at the end of the text."""
    tokens = getattr(parser, "_tokens", None)
    try:
        token = tokens.peek() if tokens is not None else None
    except ParseError:  # the token itself is wrong, which the message says
        return None
    return token.lineno if token is not None else None


def _lower(lowering: Procedures, tree: Any, file: str) -> Graph:
    lowering.floats = mentions_floats(tree)
    lowering.addressed = addressed(tree) if lowering.floats else set()
    lowering.later = allocations(tree)
    lowering.by_constants = indexed_by_constants(tree)
    lowering.only_assigned, lowering.mentioned = only_assigned(tree), names_in(tree)
    for number, item in enumerate(tree.ext):
        if isinstance(item, c_ast.Pragma):
            later = (other for other in tree.ext[number:] if not isinstance(other, c_ast.Pragma))
            lowering.file_scope(item, next(later, None))
        elif isinstance(item, c_ast.FuncDef):
            lowering.define_function(item)
        else:
            lowering.statement(item)
    lowering.define_globals()
    lowering.recursive = recursive_groups(lowering.functions)
    entry = _entry(lowering.functions, file)
    frame: dict[str, Slot] = {}
    declared = lowering.functions[entry].decl.type
    for parameter in declared.args.params if declared.args else []:
        if getattr(parameter, "name", None) is None:
            continue
        kind = lowering.in_global_scope(parameter)
        if isinstance(kind, Opaque):
            frame[parameter.name] = Slot(kind)
            continue
        place = lowering.place(parameter)
        name = lowering.fresh(parameter.name, kind, place)
        lowering.havoc(name, kind, place, origin="parameter")
        slot = Slot(kind, name, const=lowering.is_const(parameter))
        frame[parameter.name] = lowering.living(slot, parameter, frame)
        if entry == "main" and kind.floating:
            raise lowering.unsupported("floating point as a parameter of 'main'", parameter)
        if entry == "main" and parameter is declared.args.params[0]:  # C11 5.1.2.2.1
            lowering.assume(compare("<=", const(0), var(name)), place)
    listed: dict[str, Any] = {
        getattr(p, "name", None) or "": p for p in (declared.args.params if declared.args else ())
    }
    lengths: dict[str, Any] = dict(lowering.given_arrays(entry, frame))
    pointers = [name for name, parameter in listed.items() if lowering.points(parameter)]
    if not lengths and len(pointers) == 1 and frame[pointers[0]].cells is None:
        lengths[pointers[0]] = None  # it may be used as far as it goes
    for pointer, length in lengths.items():
        if pointer not in pointers:
            raise lowering.unsupported("a contract about cells of what is no array", declared)
        slot = lowering.given(listed[pointer], length)
        frame[pointer] = lowering.living(slot, listed[pointer], frame)
        if pointer in assigned(lowering.functions[entry].body, steps=True):
            frame[pointer] = lowering.moving(frame[pointer], listed[pointer], frame)
    lowering.body(entry, frame, None)
    lowering.stop()
    lowering.read_procedures()
    lowering.check_allocations()
    lowering.note_unused()
    without_copies(lowering.graph, lowering.taken)
    settle(lowering.graph, lowering.pointing_at)
    lowering.graph.remarks.entry = entry
    lowering.graph.remarks.notes += _unused(lowering, entry)
    thread_jumps(lowering.graph)
    return lowering.graph


def _unused(lowering: Procedures, entry: str) -> list[str]:
    """What a reader might believe to be checked, and is not."""
    found = [] if entry == "main" else [f"there is no 'main': the program starts at '{entry}'"]
    for name, definition in lowering.functions.items():
        if name not in lowering.entered and _claims(definition.body):
            found.append(
                f"the function '{name}' is never called: its assertions are not checked, at "
                f"{lowering.place(definition.decl)}"
            )
    return found


def _claims(node: Any) -> bool:
    """Is there an assertion in the statement?"""
    return bool(called_in(node) & (ASSERTIONS | FAILURES))


def _entry(functions: dict[str, Any], file: str) -> str:
    """`main`, or the one function that no other calls."""
    if "main" in functions:
        return "main"
    called: set[str] = set()
    for definition in functions.values():
        called |= called_in(definition.body) - {definition.decl.name}
    roots = [
        name
        for name in functions
        if name not in called and name not in ASSERTIONS and name not in ASSUMPTIONS
    ]
    if len(roots) == 1:
        return roots[0]
    raise InputError("there is no function 'main' to start from", place=Place(file, 1, 1))
