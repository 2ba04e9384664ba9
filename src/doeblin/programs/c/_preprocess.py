"""A light C preprocessor whose every token remembers where it stood in the source.

The output has one token a line, so that a line number of the parser's is an index into `places`.
Headers that are not there are tolerated; what verification programs use of them is predefined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..._errors import InputError, Place
from ._directive import condition_holds

_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\f\v\r]|\\\r?\n|//(?:\\\n|[^\n])*|/\*.*?\*/)+)
      | (?P<newline>\n)
      | (?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
      | (?P<text>(?:L|u8|u|U)?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
      | (?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#
                |[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])""",
    re.VERBOSE | re.DOTALL,
)

_DEFAULTS = {
    "bool": "_Bool",
    "true": "1",
    "false": "0",
    "NULL": "0",
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127",
    "SCHAR_MIN": "(-128)",
    "UCHAR_MAX": "255",
    "CHAR_MAX": "127",
    "CHAR_MIN": "(-128)",
    "SHRT_MAX": "32767",
    "SHRT_MIN": "(-32768)",
    "USHRT_MAX": "65535",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647-1)",
    "UINT_MAX": "4294967295U",
    "LONG_MAX": "9223372036854775807L",
    "LONG_MIN": "(-9223372036854775807L-1)",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MAX": "9223372036854775807LL",
    "LLONG_MIN": "(-9223372036854775807LL-1)",
    "ULLONG_MAX": "18446744073709551615ULL",
    "INT32_MAX": "2147483647",
    "INT32_MIN": "(-2147483647-1)",
    "UINT32_MAX": "4294967295U",
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "uint64_t": "unsigned long",
    "EXIT_SUCCESS": "0",
    "EXIT_FAILURE": "1",
}


class Token(NamedTuple):
    kind: str
    text: str
    place: Place
    first: bool = False  # first on its line: only there does `#` begin a directive
    hidden: frozenset[str] = frozenset()  # macros it came from, which must not expand again


@dataclass(frozen=True)
class Macro:
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def tokenize(text: str, file: str, *, first: bool = True) -> list[Token]:
    tokens: list[Token] = []
    position, line, start = 0, 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        place = Place(file, line, position - start + 1)
        if match is not None and match.lastgroup == "mark" and text.startswith("/*", position):
            raise InputError("this comment does not end; add '*/'", place=place)
        if match is None:
            what = "text without a closing quote" if text[position] in "\"'" else "character"
            raise InputError(f"{what} that C does not know: {text[position]!r}", place=place)
        kind, found = match.lastgroup or "", match.group()
        if kind == "newline":
            tokens.append(Token(kind, "\n", place))
            first = True
        elif kind != "space":
            tokens.append(Token(kind, found, place, first))
            first = False
        if "\n" in found:
            line += found.count("\n")
            start = position + found.rindex("\n") + 1
        position = match.end()
    return tokens


class Preprocessor:
    """Runs the directives and expands the macros of one translation unit."""

    def __init__(self, include_from: Path | None = None):
        self.macros: dict[str, Macro] = {}
        self._folder = include_from
        self._including: list[Path] = []
        for name, text in _DEFAULTS.items():
            body = tuple(t for t in tokenize(text, "<predefined>", first=False))
            self.macros[name] = Macro(None, body)

    def run(self, text: str, file: str) -> list[Token]:
        tokens = tokenize(text, file)
        for name in _own_types(tokens):
            self.macros.pop(name, None)
        return self._directives(tokens)

    def _directives(self, tokens: list[Token]) -> list[Token]:
        done: list[Token] = []
        out: list[Token] = []
        active: list[tuple[bool, bool, Place]] = []  # (taken now, taken before, where)
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if not (token.text == "#" and token.first):
                if token.kind != "newline" and all(now for now, _, _ in active):
                    out.append(token)
                index += 1
                continue
            end = index
            while end < len(tokens) and tokens[end].kind != "newline":
                end += 1
            line = tokens[index + 1 : end]
            index = end
            name = line[0].text if line else ""
            on = all(now for now, _, _ in active)
            if name in ("if", "ifdef", "ifndef"):
                holds = on and self._holds(name, line)
                active.append((holds, holds or not on, token.place))
            elif name in ("elif", "else", "endif"):
                if not active:
                    raise InputError(f"#{name} without #if", place=token.place)
                _, before, place = active.pop()
                if name == "else":
                    active.append((not before, True, place))
                elif name == "elif":
                    holds = not before and self._holds("if", line)
                    active.append((holds, before or holds, place))
            elif on and name == "define":
                # Macros used so far must see the old definitions: expand what came before.
                done += self._expand(out)
                out = []
                self._define(line)
            elif on and name == "undef" and len(line) > 1:
                done += self._expand(out)
                out = []
                self.macros.pop(line[1].text, None)
            elif on and name == "include":
                out.extend(self._include(line))
            elif on and name == "error":
                message = " ".join(item.text for item in line[1:])
                raise InputError(f"#error {message}", place=token.place)
        if active:
            raise InputError("this #if has no #endif", place=active[-1][2])
        return done + self._expand(out)

    def _holds(self, name: str, line: list[Token]) -> bool:
        if name != "if":
            if len(line) < 2:
                raise InputError(f"#{name} needs a name", place=line[0].place)
            return (line[1].text in self.macros) == (name == "ifdef")
        words: list[Token] = []
        rest = line[1:]
        while rest:
            token = rest.pop(0)
            if token.text == "defined" and rest:
                named = rest.pop(0)
                if named.text == "(" and len(rest) >= 2:
                    named = rest.pop(0)
                    rest.pop(0)
                text = "1" if named.text in self.macros else "0"
                words.append(Token("number", text, token.place))
            else:
                words.append(token)
        return condition_holds([t.text for t in self._expand(words)], line[0].place)

    def _define(self, line: list[Token]) -> None:
        if len(line) < 2 or line[1].kind != "name":
            raise InputError("#define needs a name", place=line[0].place)
        name, rest = line[1], line[2:]
        parameters: tuple[str, ...] | None = None
        after = name.place.column is not None and rest and rest[0].text == "("
        if after and _adjacent(name, rest[0]):
            close = next((i for i, t in enumerate(rest) if t.text == ")"), None)
            if close is None:
                raise InputError("this macro's parameters lack a ')'", place=name.place)
            parameters = tuple(t.text for t in rest[1:close] if t.text != ",")
            rest = rest[close + 1 :]
        for token in rest:
            if token.text in ("#", "##"):
                raise InputError(
                    f"'{token.text}' in a macro is not supported; write the expansion out",
                    place=token.place,
                )
        self.macros[name.text] = Macro(parameters, tuple(rest))

    def _include(self, line: list[Token]) -> list[Token]:
        if self._folder is None or len(line) < 2 or not line[1].text.startswith('"'):
            return []
        path = (self._folder / line[1].text.strip('"')).resolve()
        if not path.is_file() or path in self._including:
            return []
        self._including.append(path)
        if len(self._including) > 50:
            raise InputError("includes are nested too deeply", place=line[0].place)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            return self._directives(tokenize(text, str(path)))
        finally:
            self._including.pop()

    def _expand(self, tokens: list[Token]) -> list[Token]:
        out: list[Token] = []
        todo = tokens[::-1]
        grown = 0
        while todo:
            token = todo.pop()
            macro = self.macros.get(token.text) if token.kind == "name" else None
            if macro is None or token.text in token.hidden:
                out.append(token)
                continue
            hidden = token.hidden | {token.text}
            arguments: dict[str, list[Token]] = {}
            if macro.parameters is not None:
                if not todo or todo[-1].text != "(":
                    out.append(token)
                    continue
                found = _arguments(todo, token)
                if macro.parameters and macro.parameters[-1] == "...":
                    fixed = len(macro.parameters) - 1
                    variadic = _with_commas(found[fixed:])
                    arguments = dict(zip(macro.parameters, found[:fixed], strict=False))
                    arguments["__VA_ARGS__"] = variadic
                else:
                    if len(found) != len(macro.parameters):
                        raise InputError(
                            f"macro '{token.text}' takes {len(macro.parameters)} arguments, "
                            f"got {len(found)}",
                            place=token.place,
                        )
                    arguments = dict(zip(macro.parameters, found, strict=True))
                arguments = {name: self._expand(value) for name, value in arguments.items()}
            body: list[Token] = []
            for item in macro.body:
                if item.text in arguments and item.kind == "name":
                    body.extend(arguments[item.text])
                else:
                    body.append(Token(item.kind, item.text, token.place, False, hidden))
            grown += len(body)
            if grown > 2_000_000:
                raise InputError(f"macro '{token.text}' expands without end", place=token.place)
            todo.extend(body[::-1])
        return out


def _adjacent(name: Token, bracket: Token) -> bool:
    a, b = name.place, bracket.place
    return a.line == b.line and (a.column or 0) + len(name.text) == b.column


def _arguments(todo: list[Token], macro: Token) -> list[list[Token]]:
    """Take a call's arguments off the end of the reversed list."""
    todo.pop()
    found: list[list[Token]] = [[]]
    depth = 0
    while todo:
        token = todo.pop()
        if token.text == ")" and depth == 0:
            return found if len(found) > 1 or found[0] else []
        if token.text == "," and depth == 0:
            found.append([])
            continue
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        found[-1].append(token)
    raise InputError(f"the call of macro '{macro.text}' has no ')'", place=macro.place)


def _with_commas(parts: list[list[Token]]) -> list[Token]:
    out: list[Token] = []
    for number, part in enumerate(parts):
        if number:
            place = part[0].place if part else Place("<macro>")
            out.append(Token("mark", ",", place))
        out.extend(part)
    return out


def _own_types(tokens: list[Token]) -> set[str]:
    """Names that the source declares itself (typedef, enum), so that ours must stand back."""
    found = set()
    inside = False
    listing = 0
    previous: Token | None = None
    for token in tokens:
        if token.text == "enum":
            listing = 1
        elif listing and token.text in "{};":
            listing = 2 if token.text == "{" else 0
        elif listing == 2 and token.kind == "name":
            found.add(token.text)
        if token.text == "typedef":
            inside = True
        elif inside and token.text == ";":
            inside = False
            if previous is not None:
                found.add(previous.text)
        if token.kind != "newline":
            previous = token
    return found
