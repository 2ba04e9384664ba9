"""ACSL, the part of it that is about integers: clauses of annotations, and their formulas.

Numbers in ACSL are mathematical: `x + 1` is never too large, whatever the type of x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....._errors import InputError, Place
from ....system.terms import (
    FALSE,
    TRUE,
    Term,
    add,
    as_bool,
    as_int,
    compare,
    conj,
    const,
    disj,
    divide,
    implies,
    ite,
    mul,
    negate,
    sub,
    var,
)
from .._emitter import wrapped
from .._unsupported import Unsupported
from ..text import Token
from ..types import BOOL, CType, Opaque, integer_literal, type_of

CLAIMS = frozenset({"assert", "check", "admit", "requires", "ensures", "assumes"})
"""Clauses that decide what is to be proved: if one is not understood, the verdict is UNKNOWN."""

INVARIANT = "loop invariant"
BOUND = "\\"
"""Begins the names of variables that stand for every number."""
_KEYWORDS = CLAIMS | {
    "assigns", "terminates", "decreases", "allocates", "frees", "exits", "returns", "breaks",
    "continues", "complete", "disjoint", "predicate", "logic", "axiomatic", "lemma", "axiom",
    "type", "global", "invariant", "ghost", "strong", "import", "model", "inductive", "slice",
    "impact",
}  # fmt: skip
_JOINED = (("<=", "=", ">"), ("==", ">"), ("^", "^"), ("<", "==", ">"))
_UP = frozenset({"<", "<=", "=="})
_DOWN = frozenset({">", ">=", "=="})
_RELATIONS = _UP | _DOWN | {"!="}
_TYPE_WORDS = frozenset({"int", "unsigned", "signed", "char", "short", "long", "_Bool", "integer"})


class NotUnderstood(Exception):
    """A formula beyond what is read here."""


class Clause(NamedTuple):
    """`kind` is the keyword (`loop invariant`, say); `behavior` the name of the one it is in;
    `only` is "check" for what is claimed and never assumed, "admit" for the opposite."""

    kind: str
    words: list[Token]
    place: Place
    behavior: str = ""
    only: str = ""

    def __str__(self) -> str:
        text = "".join((" " if word.spaced else "") + word.text for word in self.words)
        return f"{self.only} {self.kind} {text.strip()}".strip()


def clauses(place: Place, tokens: list[Token]) -> list[Clause]:
    """The clauses of an annotation."""
    words = _joined([token for token in tokens if token.text != "@"])
    found: list[Clause] = []
    behavior = ""
    while words:
        if words[0].text == "behavior" and len(words) > 2 and words[2].text == ":":
            behavior = words[1].text
            words = words[3:]
            continue
        end = _end(words)
        inside, words = words[:end], words[end + 1 :]
        if inside:
            found.append(_clause(inside, behavior))
    return found


def _clause(words: list[Token], behavior: str) -> Clause:
    place, only = words[0].place, ""
    if words[0].text in ("check", "admit") and len(words) > 1:
        if words[1].text == "lemma":
            return Clause(f"{words[0].text} lemma", words[2:], place, behavior)
        if words[1].text in ("requires", "ensures", "loop"):
            only, words = words[0].text, words[1:]
    kind = words[0].text
    if kind == "loop" and len(words) > 1:
        return Clause(f"loop {words[1].text}", words[2:], place, behavior, only)
    if kind in _KEYWORDS:
        return Clause(kind, words[1:], place, behavior, only)
    return Clause("", words, place, behavior)


def _end(words: list[Token]) -> int:
    """The index of the `;` that ends the first clause; quantifiers have one of their own."""
    depth = binders = 0
    for index, word in enumerate(words):
        binders += word.text in ("\\forall", "\\exists", "\\let")
        if word.text == ";" and binders:
            binders -= 1
            continue
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(word.text, 0)
        if word.text == ";" and depth == 0:
            return index
        if word.text == "}" and depth == 0:
            return index + 1
    return len(words)


def _joined(tokens: list[Token]) -> list[Token]:
    """`\\result`, `==>` and `<==>` are one word each."""
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        length = 1
        texts = [t.text for t in tokens[index : index + 3]]
        tight = [not t.spaced for t in tokens[index + 1 : index + 3]]
        if token.text == "\\" and len(texts) > 1 and tight[0] and tokens[index + 1].kind == "name":
            length = 2
        for join in _JOINED:
            if tuple(texts[: len(join)]) == join and all(tight[: len(join) - 1]):
                length = len(join)
        text = "".join(t.text for t in tokens[index : index + length])
        out.append(token._replace(text=text) if length > 1 else token)
        index += length
    return out


class Names(NamedTuple):
    """What a formula may speak of; `old` is the same at the beginning of the function. Where it may
    speak of the `cell`s of arrays, it may do so for all indices."""

    value: Callable[[str], Term | None]
    type: Callable[[str], CType | Opaque | None]
    old: Callable[[str], Term | None] | None = None
    result: Term | None = None
    cell: Callable[[str, Term], Term | None] | None = None


class Formula:
    """One formula, read by recursive descent."""

    def __init__(self, words: list[Token], names: Names):
        self._rest = words[::-1]
        self._names = names
        self._bound: dict[str, Term] = {}

    def truth(self) -> Term:
        """The whole as a condition."""
        while len(self._rest) > 1 and self._rest[-1].kind == "name" and self._peek(1) == ":":
            del self._rest[-2:]  # a name for the formula
        found = as_bool(self._choice())
        if self._rest:
            raise NotUnderstood(f"'{self._rest[-1].text}' is not expected there")
        return found

    def value(self) -> Term:
        """The whole as a number."""
        found = as_int(self._choice())
        if self._rest:
            raise NotUnderstood(f"'{self._rest[-1].text}' is not expected there")
        return found

    def _peek(self, ahead: int = 0) -> str:
        return self._rest[-1 - ahead].text if len(self._rest) > ahead else ""

    def _take(self, *texts: str) -> str | None:
        return self._rest.pop().text if self._rest and self._rest[-1].text in texts else None

    def _need(self, text: str) -> None:
        if self._take(text) is None:
            raise NotUnderstood(f"'{text}' is missing before '{self._peek() or 'the end'}'")

    def _choice(self) -> Term:
        test = self._equivalence()
        if self._take("?") is None:
            return test
        yes = self._choice()
        self._need(":")
        no = self._choice()
        if yes.boolean and no.boolean:
            test = as_bool(test)
            return disj((conj((test, yes)), conj((negate(test), no))))
        return ite(as_bool(test), as_int(yes), as_int(no))

    def _equivalence(self) -> Term:
        left = self._implication()
        while self._take("<==>"):
            a, b = as_bool(left), as_bool(self._implication())
            left = conj((implies(a, b), implies(b, a)))
        return left

    def _implication(self) -> Term:
        left = self._disjunction()
        if self._take("==>"):
            return implies(as_bool(left), as_bool(self._implication()))
        return left

    def _disjunction(self) -> Term:
        left = self._exclusive()
        while self._take("||"):
            left = disj((as_bool(left), as_bool(self._exclusive())))
        return left

    def _exclusive(self) -> Term:
        left = self._conjunction()
        while self._take("^^"):
            a, b = as_bool(left), as_bool(self._conjunction())
            left = disj((conj((a, negate(b))), conj((negate(a), b))))
        return left

    def _conjunction(self) -> Term:
        left = self._relation()
        while self._take("&&"):
            left = conj((as_bool(left), as_bool(self._relation())))
        return left

    def _relation(self) -> Term:
        """A chain such as `0 <= x < n`, which means what it says."""
        left = self._sum()
        if self._peek() not in _RELATIONS:
            return left
        seen: set[str] = set()
        parts: list[Term] = []
        while op := self._take(*_RELATIONS):
            seen.add(op)
            right = self._sum()
            name = "=" if op == "==" else op
            parts.append(compare(name, as_int(left), as_int(right)))
            left = right
        if len(parts) > 1 and not (seen <= _UP or seen <= _DOWN):
            raise NotUnderstood("comparisons in different directions")
        return conj(parts)

    def _sum(self) -> Term:
        left = self._product()
        while op := self._take("+", "-"):
            right = as_int(self._product())
            left = add(as_int(left), right) if op == "+" else sub(as_int(left), right)
        return left

    def _product(self) -> Term:
        left = self._unary()
        while op := self._take("*", "/", "%"):
            right = as_int(self._unary())
            if op == "*":
                left = mul(as_int(left), right)
            elif right.constant and right.leaf != 0:
                left = divide("tdiv" if op == "/" else "trem", as_int(left), right)
            else:
                raise NotUnderstood("division by what may be zero")
        return left

    def _unary(self) -> Term:
        if self._take("!"):
            return negate(as_bool(self._unary()))
        if self._take("-"):
            return sub(const(0), as_int(self._unary()))
        if self._take("+"):
            return as_int(self._unary())
        if self._take("~"):
            return sub(const(-1), as_int(self._unary()))
        if self._peek() == "(" and (kind := self._cast()) is not None:
            value = self._unary()
            if isinstance(kind, Opaque) or kind.floating:
                raise NotUnderstood(f"a cast to {kind.name}")
            if kind == BOOL:
                return as_bool(value)
            return wrapped(as_int(value), kind)
        return self._primary()

    def _cast(self) -> CType | Opaque | None:
        """The type in brackets, if one is there; `integer` is taken as no cast at all."""
        words: list[str] = []
        while self._peek(1 + len(words)) in _TYPE_WORDS:
            words.append(self._peek(1 + len(words)))
        kind: CType | Opaque | None
        if words == ["integer"]:
            kind = CType("integer", 512, True, 9)
        elif words:
            kind = type_of(words)
        else:
            kind = self._names.type(self._peek(1))
            words = [self._peek(1)]
        if kind is None or self._peek(1 + len(words)) != ")":
            return None
        del self._rest[-2 - len(words) :]
        return kind

    def _primary(self) -> Term:
        if not self._rest:
            raise NotUnderstood("the formula is incomplete")
        word = self._rest.pop()
        if word.text == "(":
            inside = self._choice()
            self._need(")")
            return inside
        if word.text in ("\\true", "\\false"):
            return TRUE if word.text == "\\true" else FALSE
        if word.text == "\\result" and self._names.result is not None:
            return self._names.result
        if word.text == "\\forall" and self._names.cell is not None:
            return self._for_all()
        if word.text in ("\\old", "\\at"):
            return self._earlier(word.text)
        if word.text in ("\\min", "\\max", "\\abs"):
            return self._built_in(word.text)
        if word.kind == "number" or (word.kind == "text" and word.text.startswith("'")):
            try:
                return const(integer_literal(word.text, word.place)[0])
            except (InputError, Unsupported):
                raise NotUnderstood(f"the constant {word.text}") from None
        if word.kind == "name" and not word.text.startswith("\\") and self._peek() != "(":
            found = self._named(word.text)
            if found is not None:
                return found
        raise NotUnderstood(f"'{word.text}'")

    def _named(self, name: str) -> Term | None:
        if self._take("[") is None:
            return self._bound.get(name) or self._names.value(name)
        index = as_int(self._choice())
        self._need("]")
        if self._peek() == "[" or self._names.cell is None:
            return None
        return self._names.cell(name, index)

    def _for_all(self) -> Term:
        """`\\forall integer k; F`: what F says of a variable that stands for every number."""
        while self._take(*_TYPE_WORDS):
            pass
        outer, names = self._bound, [self._rest.pop().text if self._rest else ""]
        while self._take(","):
            names.append(self._rest.pop().text if self._rest else "")
        self._need(";")
        self._bound = outer | {name: var(f"{BOUND}{name}") for name in names}
        inside = as_bool(self._choice())
        self._bound = outer
        return inside

    def _earlier(self, word: str) -> Term:
        """`\\old(e)`, `\\at(e, Pre)`: the value when the function began."""
        self._need("(")
        names = self._names
        if names.old is None:
            raise NotUnderstood(f"'{word}' here")
        self._names = Names(names.old, names.type, names.old, None)
        inside = self._choice()
        self._names = names
        if word == "\\at":
            self._need(",")
            if self._take("Pre", "Old") is None:
                raise NotUnderstood(f"'\\at' a place other than Pre: '{self._peek()}'")
        self._need(")")
        return inside

    def _built_in(self, word: str) -> Term:
        self._need("(")
        first = as_int(self._choice())
        second = sub(const(0), first)
        if word != "\\abs":
            self._need(",")
            second = as_int(self._choice())
        self._need(")")
        below = compare("<=", first, second)
        return ite(below, first, second) if word == "\\min" else ite(below, second, first)
