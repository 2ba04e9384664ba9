"""S-expressions whose every atom knows its place."""

from __future__ import annotations

import re

from ..._errors import InputError, Place

_TOKEN = re.compile(r';[^\n]*|"(?:[^"]|"")*"|\|[^|]*\||[()]|[^\s()|";]+|\s+')


class Symbol(str):
    """An atom; `place` says where it stood."""

    place: Place

    def __new__(cls, text: str, place: Place) -> Symbol:
        self = super().__new__(cls, text)
        self.place = place
        return self


class Group(list["Expression"]):
    """A list in parentheses."""

    def __init__(self, place: Place):
        super().__init__()
        self.place = place


Expression = Symbol | Group


def parse(text: str, file: str) -> list[Expression]:
    """All top-level expressions of a text."""
    top = Group(Place(file, 1, 1))
    stack = [top]
    line, start, position = 1, 0, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        place = Place(file, line, position - start + 1)
        if match is None:
            raise InputError(f"this {text[position]!r} is never closed", place=place)
        found = match.group()
        if found == "(":
            stack.append(Group(place))
        elif found == ")":
            if len(stack) == 1:
                raise InputError("this ')' closes nothing", place=place)
            done = stack.pop()
            stack[-1].append(done)
        elif found[0] != ";" and not found[0].isspace():
            quoted = found[0] == "|"
            stack[-1].append(Symbol(found[1:-1] if quoted else found, place))
        if "\n" in found:
            line += found.count("\n")
            start = position + found.rindex("\n") + 1
        position = match.end()
    if len(stack) > 1:
        raise InputError("this '(' is never closed", place=stack[-1].place)
    return list(top)
