"""Rewrites that let a strict C parser read what compilers accept: attributes, GNU spellings."""

from __future__ import annotations

from ..._errors import InputError, Place
from ._preprocess import Token

_DROP = frozenset(
    {
        "__extension__", "__inline", "__inline__", "inline", "__restrict", "__restrict__",
        "__volatile__", "__volatile", "_Noreturn", "__const", "__noreturn", "register",
    }
)  # fmt: skip
_DROP_WITH_ARGUMENTS = frozenset({"__attribute__", "__attribute", "__asm__", "__asm", "asm"})
_RENAME = {
    "__signed__": "signed",
    "__signed": "signed",
    "__builtin_va_list": "int",
    "__PRETTY_FUNCTION__": '""',
    "__func__": '""',
    "__FUNCTION__": '""',
    "_Static_assert": "static_assert",
}
ASSERT_MACRO = "__doeblin_assert"


def clean(tokens: list[Token]) -> list[Token]:
    """Tokens for the parser; statement expressions are known only as `assert` expands to them."""
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        text = token.text
        if text in _DROP:
            index += 1
        elif text in _DROP_WITH_ARGUMENTS:
            index += 1
            while index < len(tokens) and tokens[index].text in ("volatile", "__volatile__"):
                index += 1
            if index < len(tokens) and tokens[index].text == "(":
                index = _close(tokens, index) + 1
        elif text == "(" and index + 1 < len(tokens) and tokens[index + 1].text == "{":
            end = _close(tokens, index)
            out += _expanded_assert(tokens[index : end + 1])
            index = end + 1
        elif text == "reach_error" and _is_definition(tokens, index):
            # Calling it is the failure itself, so its body is of no interest.
            opening = _close(tokens, index + 1) + 1
            end = _close(tokens, opening)
            out += [*tokens[index : opening + 1], tokens[end]]
            index = end + 1
        else:
            new = _RENAME.get(text)
            out.append(token if new is None else token._replace(text=new))
            index += 1
    return out


def _is_definition(tokens: list[Token], index: int) -> bool:
    if index + 1 >= len(tokens) or tokens[index + 1].text != "(":
        return False
    end = _close(tokens, index + 1)
    return end + 1 < len(tokens) and tokens[end + 1].text == "{"


_PAIRS = {"(": ")", "{": "}", "[": "]"}


def _close(tokens: list[Token], index: int) -> int:
    """The index of the bracket that closes the one at `index`."""
    opened = tokens[index].text
    closing = _PAIRS[opened]
    depth = 0
    for position in range(index, len(tokens)):
        text = tokens[position].text
        if text == opened:
            depth += 1
        elif text == closing:
            depth -= 1
            if depth == 0:
                return position
    raise InputError(f"this '{opened}' is never closed", place=tokens[index].place)


def _expanded_assert(tokens: list[Token]) -> list[Token]:
    """`({ if (c) ; else __assert_fail(…); })`, as the C library writes `assert(c)`."""
    words = [token.text for token in tokens]
    place: Place = tokens[0].place
    body = [w for w in words[2:-2] if w not in _DROP]
    if body[:2] != ["if", "("] or "__assert_fail" not in body:
        raise InputError("statement expressions ({ … }) are not supported", place=place)
    start = words.index("if") + 1
    end = _close(tokens, start)
    name = Token("name", ASSERT_MACRO, place)
    return [name, *tokens[start : end + 1]]
