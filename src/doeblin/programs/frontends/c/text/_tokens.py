"""C's translation phases 2 and 3: spliced lines, comments, and tokens that know their place."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from ....._errors import InputError, Place

_TOKEN = re.compile(
    r"""(?P<annotation>//@[^\n]*|/\*@.*?\*/)
      | (?P<space>(?:[ \t\f\v\r]|//(?!@)[^\n]*|/\*(?!@).*?\*/)+)
      | (?P<newline>\n)
      | (?P<text>(?:L|u8|u|U)?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'))
      | (?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
      | (?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#|%:%:|<:|:>|<%|%>|%:
                |[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])
      | (?P<other>\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|.)""",
    re.VERBOSE | re.DOTALL,
)
_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
_SPLICE = re.compile(r"\\[ \t\f\v\r]*\n")


class Token(NamedTuple):
    kind: str
    text: str
    place: Place
    first: bool = False  # first on its line: only there does `#` begin a directive
    spaced: bool = False  # white space stands before it
    hidden: frozenset[str] = frozenset()  # macros it came from, which must not expand again
    within: frozenset[str] = frozenset()  # macros in whose bodies it is written


class _Text:
    """The text with its lines spliced, and where each of its characters stood before."""

    def __init__(self, text: str):
        pieces: list[str] = []
        self._starts, self._lines, self._columns = [0], [1], [1]
        length = position = 0
        line = 1
        for splice in _SPLICE.finditer(text):
            pieces.append(text[position : splice.start()])
            length += len(pieces[-1])
            line += text.count("\n", position, splice.end())
            position = splice.end()
            self._starts.append(length)
            self._lines.append(line)
            self._columns.append(1)
        pieces.append(text[position:])
        self.text = "".join(pieces)
        self._breaks = [-1, *(match.start() for match in re.finditer("\n", self.text))]

    def place(self, file: str, offset: int) -> Place:
        piece = bisect_right(self._starts, offset) - 1
        start = self._starts[piece]
        first = bisect_right(self._breaks, start - 1)
        row = bisect_right(self._breaks, offset - 1)
        if row == first:
            return Place(file, self._lines[piece], self._columns[piece] + offset - start)
        return Place(file, self._lines[piece] + row - first, offset - self._breaks[row - 1])


def tokenize(text: str, file: str) -> list[Token]:
    """All tokens, line ends and ACSL annotations among them; comments are white space."""
    source = _Text(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    tokens: list[Token] = []
    first, spaced = True, False
    for match in _TOKEN.finditer(source.text):
        kind, found = match.lastgroup or "", match.group()
        if kind == "space":
            spaced = True
            continue
        place = source.place(file, match.start())
        if kind == "mark" and source.text.startswith("/*", match.start()):
            raise InputError("this comment does not end; add '*/'", place=place)
        if kind == "newline":
            tokens.append(Token(kind, "\n", place))
            first, spaced = True, False
            continue
        if kind == "annotation":
            tokens.append(Token(kind, found, place, False, True))
            spaced = True
            continue
        tokens.append(Token(kind, _DIGRAPHS.get(found, found), place, first, spaced))
        first = spaced = False
    return tokens
