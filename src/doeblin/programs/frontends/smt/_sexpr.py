"""S-expressions whose every atom knows its place, as far as commands must be told apart.

Formulas are read by Z3's parser; this one finds the commands, and refuses what Z3 lets pass.
"""

from __future__ import annotations

import re

from ...._errors import InputError, Place
from ..c import Unsupported

_TOKEN = re.compile(r';[^\n]*|"(?:[^"]|"")*"|\|[^|\\]*\||[()]|[^\s()|";]+|\s+')
_DEEP = 20_000
MOST_DIGITS = 4_000  # of a constant: Z3's parser takes a minute for 200,000 of them
# Commands that say nothing about the clauses, and what they are made of.
_PASSED_OVER = {
    "set-logic": "value",
    "set-option": "keyword value",
    "set-info": "keyword value",
    "set-feature": "keyword value",
    "get-info": "keyword",
    "get-option": "keyword",
    "get-model": "",
    "get-proof": "",
    "get-unsat-core": "",
    "get-assertions": "",
    "echo": "value",
    "check-sat": "",
    "check-synth": "",
    "exit": "",
}


class Symbol(str):
    """An atom; `place` says where it stood, `quoted` whether bars were around it."""

    place: Place
    span: tuple[int, int]
    quoted: bool

    def __new__(cls, text: str, place: Place, span: tuple[int, int]) -> Symbol:
        quoted = text[0] == "|"
        self = super().__new__(cls, text[1:-1] if quoted else text)
        self.place, self.span, self.quoted = place, span, quoted
        return self


class Group(list["Expression"]):
    """A list in parentheses."""

    def __init__(self, place: Place, start: int):
        super().__init__()
        self.place = place
        self.span = (start, start)


Expression = Symbol | Group


def parse(text: str, file: str) -> list[Expression]:
    """All top-level expressions of a text."""
    top = Group(Place(file, 1, 1), 0)
    stack = [top]
    line, start, position = 1, 0, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        place = Place(file, line, position - start + 1)
        if match is None:
            raise InputError(f"this {text[position]!r} is never closed", place=place)
        found = match.group()
        if found == "(":
            stack.append(Group(place, position))
            if len(stack) > _DEEP:
                raise Unsupported(f"more than {_DEEP} nested brackets", place)
        elif found == ")":
            if len(stack) == 1:
                raise InputError("this ')' closes nothing", place=place)
            done = stack.pop()
            done.span = (done.span[0], match.end())
            stack[-1].append(done)
        elif found[0] != ";" and not found[0].isspace():
            if found[0].isdigit() and len(found) > MOST_DIGITS:
                raise Unsupported(f"a constant of more than {MOST_DIGITS} digits", place)
            stack[-1].append(Symbol(found, place, match.span()))
        if "\n" in found:
            line += found.count("\n")
            start = position + found.rindex("\n") + 1
        position = match.end()
    if len(stack) > 1:
        raise InputError("this '(' is never closed", place=stack[-1].place)
    return list(top)


def commands(text: str, file: str) -> list[tuple[Symbol, Group]]:
    """The commands of a script, each with its name; those that nobody looks into are well-formed,
    as Z3 has it."""
    found = []
    for item in parse(text, file):
        name = item[0] if isinstance(item, Group) and item else None
        if not (isinstance(item, Group) and isinstance(name, Symbol)):
            raise InputError("a command in parentheses is expected", place=item.place)
        kinds = _PASSED_OVER.get(name)
        if kinds is not None and [_kind(part) for part in item[1:]] != kinds.split():
            wanted = " and a ".join(kinds.split())
            raise InputError(
                f"'{name}' takes {'a ' + wanted if wanted else 'nothing'}", place=item.place
            )
        found.append((name, item))
    return found


def _kind(part: Expression) -> str:
    if isinstance(part, Group):
        return "list"
    return "keyword" if part.startswith(":") and not part.quoted else "value"
