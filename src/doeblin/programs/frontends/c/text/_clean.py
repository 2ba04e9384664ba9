"""Rewrites that let a C parser read what gcc accepts; what cannot be kept is refused.

Attributes are dropped only if they are known to change nothing. An annotation becomes a pragma,
which the parser keeps in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ....._errors import InputError, Place
from .._library import ASSERT_MACRO, ASSERTIONS, ENDINGS, FAILURES, VIOLATION
from .._unsupported import Unsupported
from ._directive import check_pragma
from ._tokens import Token

PRAGMA = "doeblin"
_DROP = frozenset(
    {
        "__extension__", "__inline", "__inline__", "inline",
    }
)  # fmt: skip
_RESTRICT = frozenset({"restrict", "__restrict", "__restrict__"})
_RENAME = {
    "__signed__": "signed",
    "__signed": "signed",
    "__const": "const",
    "__const__": "const",
    "__volatile__": "volatile",
    "__volatile": "volatile",
    "__alignof__": "_Alignof",
    "__alignof": "_Alignof",
    "__PRETTY_FUNCTION__": '""',
    "__func__": '""',
    "__FUNCTION__": '""',
    **{
        name: "double"
        for name in (
            "_Float16", "_Float32", "_Float64", "_Float128", "_Float32x", "_Float64x", "__float128",
            "__float80", "_Decimal32", "_Decimal64", "_Decimal128",
        )
    },
}  # fmt: skip
_REFUSED = {
    "__int128": "the type '__int128'",
    "__int128_t": "the type '__int128'",
    "__uint128_t": "the type '__int128'",
    "__complex__": "floating point",
    "__real__": "floating point",
    "__imag__": "floating point",
    "typeof": "'typeof'",
    "__typeof__": "'typeof'",
    "__typeof": "'typeof'",
    "__auto_type": "'__auto_type'",
    "__label__": "local labels",
    "_Thread_local": "threads",
    "__thread": "threads",
    "_Atomic": "atomic types",
    "_BitInt": "the type '_BitInt'",
    "_Alignas": "'_Alignas'",
}
_ATTRIBUTES = frozenset({"__attribute__", "__attribute"})
_ASM = frozenset({"asm", "__asm", "__asm__"})
_NORETURN = "noreturn"
_HARMLESS = frozenset(
    {
        "unused", "used", "noinline", "always_inline", "gnu_inline", "artificial", "flatten",
        "cold", "hot", "nothrow", "leaf", "warn_unused_result", "deprecated", "unavailable",
        "format", "format_arg", "access", "sentinel", "nonstring", "no_instrument_function",
        "visibility", "externally_visible", "noclone", "noipa", "no_icf", "fallthrough",
        "may_alias", "no_sanitize", "no_sanitize_address", "no_sanitize_undefined", "no_reorder",
        _NORETURN,
    }
)  # fmt: skip
# Undefined behaviour where a body or a call does not keep to them.
_PROMISES = frozenset(
    {"const", "pure", "nonnull", "returns_nonnull", "malloc", "alloc_size", "alloc_align"}
)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


@dataclass
class Cleaned:
    """Tokens for the parser; functions that do not return, those whose name the linker changes,
    and what others promise."""

    tokens: list[Token] = field(default_factory=list)
    noreturn: set[str] = field(default_factory=set)
    renamed: set[str] = field(default_factory=set)
    promises: dict[str, set[str]] = field(default_factory=dict)


def clean(tokens: list[Token]) -> Cleaned:
    """Tokens for the parser; statement expressions are known only as `assert` expands to them."""
    done = Cleaned()
    out = done.tokens
    if any(token.text == "__builtin_va_list" for token in tokens):
        words = ("typedef", "void", "*", "__builtin_va_list", ";")
        out += [Token("name", word, tokens[0].place) for word in words]
    index = 0
    while index < len(tokens):
        token = tokens[index]
        text = token.text
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if token.kind == "annotation":
            out.append(token._replace(text=f"#pragma {PRAGMA} {text}"))
        elif token.kind == "text":
            out.append(token)
        elif text in _DROP:
            pass
        elif text in _REFUSED:
            raise Unsupported(_REFUSED[text], token.place)
        elif text in ("_Noreturn", "__noreturn"):
            done.noreturn.add(_declared(tokens, index))
        elif text in _ATTRIBUTES and following == "(":
            end = _close(tokens, index + 1)
            attributes = _attributes(tokens[index + 2 : end])
            if _NORETURN in attributes:
                done.noreturn.add(_declared(tokens, index))
            if promised := attributes & _PROMISES:
                done.promises.setdefault(_declared(tokens, index), set()).update(promised)
            index = end
        elif text in _RESTRICT:
            if not _is_parameter(tokens, index):
                raise Unsupported("'restrict'", token.place)
            done.promises.setdefault(_declared(tokens, index), set()).add("restrict")
        elif text in _ASM:
            if following != "(" or index == 0 or tokens[index - 1].text != ")":
                raise Unsupported("'asm'", token.place)
            done.renamed.add(_declared(tokens, index))
            index = _close(tokens, index + 1)
        elif text == "_Pragma" and following == "(":
            end = _close(tokens, index + 1)
            words = re.findall(r"\w+", "".join(each.text for each in tokens[index + 2 : end]))
            check_pragma(words, token.place)
            index = end
        elif text == "(" and following == "{":
            end = _close(tokens, index)
            out += _expanded_assert(tokens[index : end + 1])
            index = end
        elif text in FAILURES and _is_definition(tokens, index):
            # Calling it is the failure itself, so its body is of no interest.
            opening = _close(tokens, index + 1) + 1
            end = _close(tokens, opening)
            out += [*tokens[index : opening + 1], tokens[end]]
            index = end
        else:
            _refuse_extension(tokens, index)
            new = _RENAME.get(text)
            if text in ENDINGS and following == "(" and token.within & ASSERTIONS:
                new = VIOLATION
            out.append(token if new is None else token._replace(text=new))
        index += 1
    return done


def _refuse_extension(tokens: list[Token], index: int) -> None:
    """GNU C and C23 that the parser would call a syntax error."""
    token = tokens[index]
    text = token.text
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    before = tokens[index - 1].text if index else ""
    if text == "[" and following == "[":
        raise Unsupported("[[…]] attributes", token.place)
    if text == "?" and following == ":":
        raise Unsupported("'?:' without its middle", token.place)
    if text == "goto" and following == "*":
        raise Unsupported("computed jumps", token.place)
    if text == "&&" and before in ("=", "(", ",", "{", "return"):
        raise Unsupported("labels as values", token.place)
    if text == "case":
        for later in tokens[index + 1 : index + 50]:
            if later.text == "...":
                raise Unsupported("ranges of cases", token.place)
            if later.text in (":", ";", "{"):
                break


def _attributes(tokens: list[Token]) -> set[str]:
    """The names in `((a, b(x)))` without its outer brackets; refuses those that could matter."""
    found: set[str] = set()
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth != 1 or token.kind != "name":
            continue
        name = token.text.removeprefix("__").removesuffix("__")
        if name not in _HARMLESS | _PROMISES:
            raise Unsupported(f"the attribute '{name}'", token.place)
        found.add(name)
    return found


def _declared(tokens: list[Token], index: int) -> str:
    """The function whose declaration the token at `index` is a part of."""
    start = index
    while start and tokens[start - 1].text not in (";", "}", "{"):
        start -= 1
    position = start
    while position + 1 < len(tokens) and tokens[position].text not in (";", "{", "}"):
        token = tokens[position]
        if token.text in _ATTRIBUTES or token.text in _ASM:
            position = _close(tokens, position + 1)
        elif token.kind == "name" and tokens[position + 1].text == "(":
            return token.text
        position += 1
    return ""


def _is_parameter(tokens: list[Token], index: int) -> bool:
    """Is the token within the brackets of a declaration?"""
    depth = 0
    while index and tokens[index - 1].text not in (";", "}", "{"):
        index -= 1
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
    return depth > 0


def _is_definition(tokens: list[Token], index: int) -> bool:
    if index + 1 >= len(tokens) or tokens[index + 1].text != "(":
        return False
    end = _close(tokens, index + 1)
    return end + 1 < len(tokens) and tokens[end + 1].text == "{"


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
    """`({ if (c) ; else __assert_fail(…); })`, exactly as the C library writes `assert(c)`."""
    place: Place = tokens[0].place
    body = [token for token in tokens[2:-2] if token.text not in _DROP]
    words = [token.text for token in body]
    if words[:2] == ["if", "("]:
        end = _close(body, 1)
        rest = words[end + 1 :]
        if rest[:4] == [";", "else", "__assert_fail", "("]:
            last = _close(body, end + 4)
            if words[last + 1 :] == [";"]:
                return [Token("name", ASSERT_MACRO, place), *body[1 : end + 1]]
    raise Unsupported("statement expressions ({ … })", place)
