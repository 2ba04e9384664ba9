"""Macro expansion as the standard describes it: `#`, `##`, variable arguments, rescanning with
hide sets (Prosser's algorithm, from which C's wording was made)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ....._errors import InputError, Place
from .._unsupported import Unsupported
from ._tokens import Token, tokenize

_LARGEST = 1_000_000  # tokens, of all expansions together
_LONGEST = 100_000  # characters of one token
_REST = "__VA_ARGS__"
_OPTIONAL = "__VA_OPT__"


@dataclass(frozen=True)
class Macro:
    """`parameters` is None for a macro without brackets; `rest` names the variable arguments."""

    body: tuple[Token, ...]
    parameters: tuple[str, ...] | None = None
    rest: str | None = None


def define(line: list[Token]) -> tuple[str, Macro]:
    """The macro that the tokens after `#` define."""
    if len(line) < 2 or line[1].kind != "name":
        raise InputError("#define needs a name", place=line[0].place)
    name, body = line[1], line[2:]
    if name.text == "defined":
        raise InputError("'defined' cannot be a macro", place=name.place)
    parameters: list[str] | None = None
    rest = None
    if body and body[0].text == "(" and not body[0].spaced:
        close = next((i for i, t in enumerate(body) if t.text == ")"), None)
        if close is None:
            raise InputError("this macro's parameters lack a ')'", place=name.place)
        parameters, rest = _parameters(body[1:close], name.place)
        body = body[close + 1 :]
    for side in (body[:1], body[-1:]):
        if side and side[0].text == "##":
            raise InputError("'##' cannot stand at an end of a macro", place=side[0].place)
    names = {*(parameters or ()), rest, _OPTIONAL}
    for token, after in zip(body, [*body[1:], None], strict=False):
        if (
            parameters is not None
            and token.text == "#"
            and (after is None or after.text not in names)
        ):
            raise InputError("'#' is not followed by a macro parameter", place=token.place)
        if token.text == _REST and rest != _REST:
            raise InputError(f"{_REST} in a macro without '...'", place=token.place)
    return name.text, Macro(tuple(body), None if parameters is None else tuple(parameters), rest)


def _parameters(tokens: list[Token], place: Place) -> tuple[list[str], str | None]:
    words = [token.text for token in tokens]
    rest = None
    if words[-1:] == ["..."]:
        words.pop()
        rest = _REST
        if words and words[-1] != ",":
            rest = words.pop()
        if words[-1:] == [","]:
            words.pop()
    names = words[::2]
    sound = all(word == "," for word in words[1::2]) and len(words) % 2 == (1 if words else 0)
    if not sound or len(set(names)) < len(names) or any(not _is_name(word) for word in names):
        raise InputError("this macro's parameters are not a list of names", place=place)
    return names, rest


def _is_name(word: str) -> bool:
    return word.replace("$", "_").isidentifier() and word.isascii()


class _Arguments(dict[str, list[Token]]):
    """What a call gives to the parameters; `omitted` if there is nothing for `...`."""

    omitted = False


class Expander:
    """Expands tokens by a table of macros, which may change while tokens are drawn."""

    def __init__(self, macros: dict[str, Macro]):
        self.macros = macros
        self.special: dict[str, Callable[[Token], Token]] = {}
        self._grown = 0

    def expand(self, source: Iterable[Token]) -> Iterator[Token]:
        rest = iter(source)
        todo: list[Token] = []

        def draw() -> Token | None:
            return todo.pop() if todo else next(rest, None)

        while (token := draw()) is not None:
            if token.kind != "name" or token.text in token.hidden:
                yield token
                continue
            if token.text in self.special and token.text not in self.macros:
                yield self.special[token.text](token)
                continue
            macro = self.macros.get(token.text)
            if macro is None:
                yield token
                continue
            hidden = token.hidden | {token.text}
            arguments = _Arguments()
            if macro.parameters is not None:
                following = draw()
                if following is None or following.text != "(" or following.kind != "mark":
                    if following is not None:
                        todo.append(following)
                    yield token
                    continue
                found, closing = _arguments(draw, token)
                arguments = _bind(macro, found, token)
                hidden = (token.hidden & closing.hidden) | {token.text}
            body = [
                item._replace(hidden=item.hidden | hidden)
                for item in self._substitute(macro, list(macro.body), arguments, token)
            ]
            if body:
                body[0] = body[0]._replace(spaced=token.spaced or token.first)
            self._grown += len(body) + 1
            if self._grown > _LARGEST:
                raise InputError(f"macro '{token.text}' expands without end", place=token.place)
            todo.extend(body[::-1])

    def _substitute(
        self, macro: Macro, body: list[Token], arguments: _Arguments, call: Token
    ) -> list[Token]:
        """The body with its arguments put in, before it is scanned again."""
        out: list[Token] = []
        index = 0
        pasting = False
        while index < len(body):
            token = body[index]
            index += 1
            if token.text == "##" and token.kind == "mark":
                pasting = True
                continue
            before_paste = index < len(body) and body[index].text == "##"
            if macro.parameters is not None and token.text == "#":
                name = body[index]
                index += 1
                if name.text == _OPTIONAL:
                    raise Unsupported(f"'#{_OPTIONAL}'", call.place)
                piece = [_stringized(arguments[name.text], token, call)]
            elif token.text == _OPTIONAL and macro.rest is not None:
                close = _closing(body, index, call)
                inner = (
                    body[index + 1 : close]
                    if any(True for _ in self.expand(arguments[macro.rest]))
                    else []
                )
                piece = self._substitute(macro, inner, arguments, call)
                index = close + 1
            elif token.kind == "name" and token.text in arguments:
                raw = arguments[token.text]
                if pasting or before_paste:
                    if pasting and token.text == macro.rest and out and out[-1].text == ",":
                        # GNU C: `, ## __VA_ARGS__` drops the comma when nothing follows it.
                        if arguments.omitted:
                            out.pop()
                        out += raw
                        pasting = False
                        continue
                    piece = list(raw)
                else:
                    piece = list(self.expand(raw))
                if piece:
                    piece[0] = piece[0]._replace(spaced=token.spaced)
            else:
                within = call.within | {call.text}
                piece = [token._replace(place=call.place, first=False, within=within)]
            if pasting:
                _paste(out, piece, call)
                pasting = False
            elif before_paste and not piece:
                out.append(Token("empty", "", call.place, spaced=token.spaced))
            else:
                out += piece
        return [token for token in out if token.kind != "empty"]


def _arguments(draw: Callable[[], Token | None], macro: Token) -> tuple[list[list[Token]], Token]:
    """The arguments of a call whose `(` was drawn, and its `)`."""
    found: list[list[Token]] = [[]]
    depth = 0
    while (token := draw()) is not None:
        if token.kind == "annotation":
            raise Unsupported("an annotation within a macro's arguments", token.place)
        if token.kind == "barrier":
            continue
        if token.kind == "mark":
            if token.text == ")" and depth == 0:
                return found, token
            if token.text == "," and depth == 0:
                found.append([token])  # kept, for variable arguments
                continue
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        found[-1].append(token._replace(first=False, spaced=token.spaced or token.first))
    raise InputError(f"the call of macro '{macro.text}' has no ')'", place=macro.place)


def _bind(macro: Macro, found: list[list[Token]], call: Token) -> _Arguments:
    parameters = macro.parameters or ()
    wanted = len(parameters)
    bare = [found[0], *(part[1:] for part in found[1:])]
    arguments = _Arguments(zip(parameters, bare, strict=False))
    empty = len(found) == 1 and not found[0]
    if macro.rest is not None:
        if len(found) < wanted:
            raise _wrong_number(call, f"at least {wanted}", 0 if empty else len(found))
        rest = [token for part in found[wanted:] for token in part]
        arguments[macro.rest] = rest[1:] if wanted and rest else rest
        arguments.omitted = len(found) <= wanted or (wanted == 0 and empty)
    elif len(found) != wanted and not (empty and wanted == 0):
        raise _wrong_number(call, str(wanted), 0 if empty else len(found))
    return arguments


def _wrong_number(call: Token, wanted: str, got: int) -> InputError:
    return InputError(f"macro '{call.text}' takes {wanted} arguments, got {got}", place=call.place)


def _closing(body: list[Token], index: int, call: Token) -> int:
    depth = 0
    for position in range(index, len(body)):
        depth += {"(": 1, ")": -1}.get(body[position].text, 0)
        if depth == 0 and position > index:
            return position
        if depth == 0:
            break
    raise InputError(f"{_OPTIONAL} needs brackets", place=call.place)


def _stringized(tokens: list[Token], sharp: Token, call: Token) -> Token:
    text = ""
    for token in tokens:
        spelled = token.text
        if token.kind == "text":
            spelled = spelled.replace("\\", "\\\\").replace('"', '\\"')
        text += (" " if token.spaced and text else "") + spelled
    if len(text) > _LONGEST:
        raise InputError(f"macro '{call.text}' makes a text without end", place=call.place)
    return Token("text", f'"{text}"', call.place, spaced=sharp.spaced)


def _paste(out: list[Token], piece: list[Token], call: Token) -> None:
    """Join the last token of `out` with the first of `piece`."""
    if not piece:
        return
    if not out:
        out += piece
        return
    left, right = out.pop(), piece[0]
    text = left.text + right.text
    if len(text) > _LONGEST:
        raise InputError(f"macro '{call.text}' makes a name without end", place=call.place)
    joined = tokenize(text, call.place.file)
    if len(joined) != 1 or joined[0].kind in ("other", "annotation"):
        raise InputError(
            f"'##' makes '{text}' in macro '{call.text}', which is no token", place=call.place
        )
    kind = joined[0].kind
    hidden, within = left.hidden & right.hidden, left.within & right.within
    joint = Token(kind, text, call.place, spaced=left.spaced, hidden=hidden, within=within)
    out += [joint, *piece[1:]]
