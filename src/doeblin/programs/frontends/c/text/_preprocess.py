"""A C preprocessor whose every token remembers where it stood in the source.

Ours, and not the installed one: its verdicts are the same on every machine, it reads no file
outside of the program's folder, and its tokens keep their places. Tested against gcc's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ....._errors import InputError, Place
from ....._files import read_text
from .._unsupported import Unsupported
from ._directive import check_pragma, condition_holds
from ._headers import ASSERT, HEADERS, PREDEFINED, may_define, may_predefine
from ._macros import Expander, Macro, define
from ._tokens import Token, tokenize

_DEEPEST = 200  # as gcc's
_MOST_INCLUDES = 2_000
_LARGEST = 10_000_000  # characters, of all included files together
_IGNORED = frozenset({"warning", "ident", "sccs"})
_IFS = frozenset({"if", "ifdef", "ifndef"})
_HAS = frozenset({"__has_include", "__has_attribute", "__has_builtin", "__has_cpp_attribute"})
_UNSTEADY = frozenset({"__DATE__", "__TIME__", "__TIMESTAMP__"})


@lru_cache(maxsize=1)
def _predefined() -> dict[str, Macro]:
    found = {}
    for line in PREDEFINED.splitlines():
        name, macro = define(tokenize(line, "<predefined>")[1:])
        found[name] = macro
    return found


class Preprocessor:
    """Runs the directives and expands the macros of one translation unit.

    `missing` are headers that were not found, `known` those of the system that were included;
    `annotations` are ACSL comments, to which tokens of that kind refer by their number.
    """

    def __init__(self, folder: Path | None = None):
        self.macros = dict(_predefined())
        self.missing: list[tuple[str, Place]] = []
        self.known: set[str] = set()
        self.annotations: list[tuple[Place, list[Token]]] = []
        self._folder = folder.resolve() if folder is not None else None
        self._depth = 0
        self._included = 0
        self._length = 0
        self._once: set[Path] = set()
        self._read: set[Path] = set()
        self._counter = -1
        self._undefined: set[str] = set()  # by the program
        self._expander = Expander(self.macros)
        self._expander.special = {
            "__LINE__": self._line,
            "__FILE__": lambda token: _quoted(token, self._shown.get(token.place.file)),
            "__BASE_FILE__": lambda token: _quoted(token, self._base),
            "__INCLUDE_LEVEL__": lambda token: _number(token, self._depth),
            "__COUNTER__": self._count,
            **{name: _unsteady for name in _UNSTEADY},
        }
        self._base = ""
        self._shift: dict[str, int] = {}  # what #line adds to the lines of a file
        self._shown: dict[str, str] = {}

    def run(self, text: str, file: str) -> list[Token]:
        self._base = file
        out: list[Token] = []
        for token in self._expander.expand(self._file(text, file)):
            if token.kind == "annotation":
                token = token._replace(text=self._annotation(token))
            elif token.kind == "barrier":
                continue
            elif token.kind == "other":
                if token.text.isalnum() or len(token.text) > 1:
                    raise Unsupported("names with letters beyond ASCII", token.place)
                what = "text without a closing quote" if token.text in "\"'" else "character"
                raise InputError(f"{what} that C does not know: {token.text!r}", place=token.place)
            out.append(token)
        return out

    def _annotation(self, token: Token) -> str:
        """The annotation's own tokens, expanded by the macros of its place.

        A clause's first word is ACSL's: `assert` is no macro there."""
        body = token.text[3:] if token.text.startswith("//") else token.text[3:-2]
        line, column = token.place.line or 1, token.place.column or 1
        padded = "\n" * (line - 1) + " " * (column + 2) + body
        inside = [t for t in tokenize(padded, token.place.file) if t.kind != "newline"]
        for index, word in enumerate(inside):
            if index == 0 or inside[index - 1].text in (";", "@"):
                inside[index] = word._replace(hidden=word.hidden | {word.text})
        self.annotations.append((token.place, list(self._expander.expand(inside))))
        return str(len(self.annotations) - 1)

    # ---- macros that compute

    def _line(self, token: Token) -> Token:
        line = (token.place.line or 0) + self._shift.get(token.place.file, 0)
        return _number(token, line)

    def _count(self, token: Token) -> Token:
        self._counter += 1
        return _number(token, self._counter)

    # ---- directives, run as the tokens behind them are drawn

    def _file(self, text: str, file: str) -> Iterator[Token]:
        tokens = tokenize(text, file)
        self._shown.setdefault(file, file)
        active: list[tuple[bool, bool, bool, Place]] = []  # taken now, before, after #else; where
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if not (token.text == "#" and token.first):
                if token.kind != "newline" and all(group[0] for group in active):
                    yield token
                index += 1
                continue
            end = index
            while end < len(tokens) and tokens[end].kind != "newline":
                end += 1
            line = [t for t in tokens[index + 1 : end] if t.kind != "annotation"]
            index = end
            name = line[0].text if line else ""
            on = all(group[0] for group in active)
            if name in _IFS or name in ("elif", "elifdef", "elifndef", "else", "endif"):
                guard = name == "ifndef" and _defines(tokens[end + 1 : end + 4], line)
                self._conditional(name, line, active, token.place, guard)
            elif on and line:
                yield from self._directive(name, line, token.place)
        if active:
            raise InputError("this #if has no #endif", place=active[-1][3])

    def _conditional(
        self,
        name: str,
        line: list[Token],
        active: list[tuple[bool, bool, bool, Place]],
        place: Place,
        guard: bool,
    ) -> None:
        if name in _IFS:
            on = all(group[0] for group in active)
            holds = on and self._holds(name, line, guard)
            active.append((holds, holds or not on, False, place))
            return
        if not active:
            raise InputError(f"#{name} without #if", place=place)
        _, before, last, opened = active.pop()
        if name == "endif":
            return
        if last:
            raise InputError(f"#{name} after #else", place=place)
        if name == "else":
            active.append((not before, True, True, opened))
        else:
            holds = not before and self._holds(name.removeprefix("el"), line)
            active.append((holds, before or holds, False, opened))

    def _directive(self, name: str, line: list[Token], place: Place) -> Iterator[Token]:
        if name == "define":
            new, macro = define(line)
            self.macros[new] = macro
            yield Token("barrier", "", place)  # as in gcc, no '(' is looked for beyond it
        elif name == "undef":
            if len(line) < 2 or line[1].kind != "name":
                raise InputError("#undef needs a name", place=place)
            self.macros.pop(line[1].text, None)
            self._undefined.add(line[1].text)
            yield Token("barrier", "", place)
        elif name == "include":
            yield from self._include(line, place)
        elif name == "error":
            message = " ".join(item.text for item in line[1:])
            raise InputError(f"#error {message}", place=place)
        elif name == "pragma":
            self._pragma([item.text for item in line[1:]], place)
        elif name == "line" or line[0].kind == "number":
            words = line if name != "line" else list(self._expander.expand(line[1:]))
            self._renumber(words, place)
        elif name in ("include_next", "import"):
            raise Unsupported(f"#{name}", place)
        elif name not in _IGNORED:
            raise InputError(f"'#{name}' is no directive of C", place=place)

    def _renumber(self, words: list[Token], place: Place) -> None:
        if not words or not words[0].text.isdigit():
            raise InputError("#line needs a number", place=place)
        self._shift[place.file] = int(words[0].text) - (place.line or 0) - 1
        if len(words) > 1 and words[1].kind == "text":
            self._shown[place.file] = words[1].text[1:-1]

    def _pragma(self, words: list[str], place: Place) -> None:
        if words[:1] == ["once"]:
            self._once.add(Path(place.file))
        check_pragma(words, place)

    def _holds(self, name: str, line: list[Token], guard: bool = False) -> bool:
        place = line[0].place
        if name != "if":
            if len(line) < 2 or line[1].kind != "name":
                raise InputError(f"#{name} needs a name", place=place)
            return self._defined(line[1], guard) == (name == "ifdef")
        words: list[Token] = []
        rest = line[:0:-1]
        while rest:
            token = rest.pop()
            if token.text == "defined" and token.kind == "name":
                named = rest.pop() if rest else token
                if named.text == "(":
                    named = rest.pop() if rest else token
                    if not rest or rest.pop().text != ")":
                        raise InputError("'defined' lacks a ')'", place=token.place)
                if named.kind != "name" or named is token:
                    raise InputError("'defined' needs a name", place=token.place)
                token = _number(token, int(self._defined(named)))
            elif token.text == "__has_include":
                token = _number(token, int(self._has_include(rest, token)))
            elif token.text in _HAS:
                raise Unsupported(token.text, token.place)
            words.append(token)
        expanded = list(self._expander.expand(words))
        if any(token.text == "defined" for token in expanded):
            raise Unsupported("'defined' that a macro expands to", place)
        for token in expanded:
            if token.kind == "name":
                self._defined(token)
        return condition_holds([token.text for token in expanded], place)

    def _defined(self, token: Token, guard: bool = False) -> bool:
        """Refused where it is not known; a `guard` against a second reading is the program's."""
        name = token.text
        if name in self.macros or name in self._expander.special or name in _HAS:
            return True
        known = name in self._undefined or guard or token.place.file.startswith("<")
        if not known and (header := self.from_header(name)) is not None:
            raise Unsupported(f"'{name}', which {header} may define,", token.place)
        return False

    @property
    def included(self) -> tuple[Path, ...]:
        """The headers of the program's own that were read."""
        return tuple(sorted(self._read))

    def from_header(self, name: str) -> str | None:
        """Where a name may be from that is not defined here, if it may be from elsewhere."""
        for header in sorted(self.known):
            if may_define(header, name):
                return f"<{header}>"
        if may_predefine(name):
            return "the compiler or a header"
        if self.missing:
            return f"the header '{self.missing[0][0]}' (which was not found)"
        return None

    # ---- included files

    def _has_include(self, rest: list[Token], token: Token) -> bool:
        if not rest or rest.pop().text != "(":
            raise InputError("__has_include needs brackets", place=token.place)
        inside: list[Token] = []
        while rest and rest[-1].text != ")":
            inside.append(rest.pop())
        if not rest or not inside:
            raise InputError("__has_include lacks a ')'", place=token.place)
        rest.pop()
        name, quoted = self._header(inside, token.place)
        if (quoted and self._find(name, token.place) is not None) or name in HEADERS:
            return True
        raise Unsupported(f"whether there is a header '{name}'", token.place)

    def _header(self, line: list[Token], place: Place) -> tuple[str, bool]:
        """The name of a header, and whether it is in quotes."""
        if line and line[0].text != "<" and not line[0].text.startswith('"'):
            line = list(self._expander.expand(line))
        if line and line[0].text.startswith('"'):
            return line[0].text[1:-1], True
        if len(line) > 2 and line[0].text == "<":
            end = next((i for i, t in enumerate(line) if t.text == ">"), None)
            if end is not None:
                return "".join((" " if t.spaced else "") + t.text for t in line[1:end]), False
        raise InputError('#include needs "file" or <file>', place=place)

    def _include(self, line: list[Token], place: Place) -> Iterator[Token]:
        name, quoted = self._header(line[1:], place)
        path = self._find(name, place) if quoted else None
        self._included += 1
        if self._depth >= _DEEPEST or self._included > _MOST_INCLUDES:
            raise InputError("includes are nested too deeply", place=place)
        self._depth += 1
        if path is not None:
            if path not in self._once:
                text = _read(path, place)
                self._length += len(text)
                if self._length > _LARGEST:
                    raise InputError("the included files are too large", place=place)
                yield from self._file(text, str(path))
        elif name in HEADERS:
            text = ASSERT if name == "assert.h" else HEADERS[name]
            if name == "assert.h" or name not in self.known:
                self.known.add(name)
                for token in self._file(text, f"<{name}>"):
                    yield token._replace(place=place)
        else:
            self.missing.append((name, place))
        self._depth -= 1

    def _find(self, name: str, place: Place) -> Path | None:
        """A header beside the file that includes it; nothing outside of the program's folder."""
        if self._folder is None or len(name) > 1_000 or "\0" in name:
            return None
        inner = Path(place.file)
        near = inner.parent if inner in self._read else self._folder
        for folder in dict.fromkeys((near, self._folder)):
            try:
                path = (folder / name).resolve()
                if path.is_relative_to(self._folder) and path.is_file():
                    self._read.add(path)
                    return path
            except (OSError, RuntimeError):
                continue
        return None


def _defines(following: list[Token], line: list[Token]) -> bool:
    """Is the next line a `#define` of the name that this one asks for?"""
    words = [token.text for token in following]
    return words == ["#", "define", line[1].text] if len(line) > 1 else False


def _read(path: Path, place: Place) -> str:
    try:
        return read_text(path, most=_LARGEST)
    except InputError as error:
        raise InputError(f"in a header: {error}", place=place) from None


def _number(token: Token, value: int) -> Token:
    return token._replace(kind="number", text=str(value))


def _quoted(token: Token, text: str | None) -> Token:
    shown = (text or token.place.file).replace("\\", "\\\\").replace('"', '\\"')
    return token._replace(kind="text", text=f'"{shown}"')


def _unsteady(token: Token) -> Token:
    raise Unsupported(f"{token.text}, which changes from day to day", token.place)
