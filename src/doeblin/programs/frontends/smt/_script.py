"""Declarations and formulas through Z3's parser, one command at a time.

The file is not trusted: only commands that declare, define or assert come here, so none can read
or write another file, change the solver's settings or ask it to work.
"""

from __future__ import annotations

import re
from typing import Any

import z3

from ...._errors import InputError, Place
from ...system.terms import new_context
from ..c import Unsupported
from ._sexpr import Expression, Group, Symbol

_ERROR = re.compile(r'\(error "(?:line (\d+) column (\d+): )?(.*?)"\)', re.DOTALL)
# How many arguments these need at least; Z3 has a meaning of its own for fewer.
_ARITY = {"<": 2, "<=": 2, ">": 2, ">=": 2, "=": 2, "distinct": 2, "div": 2, "mod": 2, "xor": 2,
          "=>": 2, "+": 2, "*": 2}  # fmt: skip
_THEORY = frozenset(
    {*_ARITY, "-", "/", "and", "or", "not", "ite", "true", "false", "abs", "to_real", "to_int",
     "is_int", "iff", "implies", "if", "select", "store", "rem"}
)  # fmt: skip
_RESERVED = frozenset({"let", "forall", "exists", "match", "par", "as", "_", "!", "lambda"})


class Script:
    """What has been declared so far. Sorts are checked, and nothing is coerced."""

    def __init__(self, text: str, file: str):
        self.file = file
        self._text = text
        self._parser = z3.ParserContext(new_context())
        self._parser.from_string("(set-option :int-real-coercions false)")
        self._names: set[str] = set()

    def part(self, item: Expression) -> str:
        """The text of a part of the file."""
        return self._text[slice(*item.span)]

    def name(self, command: Group) -> Symbol:
        """The name that a command declares, which must be new."""
        name = command[1] if len(command) > 1 else None
        if not isinstance(name, Symbol):
            raise InputError(f"'{command[0]}' needs a name", place=command.place)
        if name in self._names:
            raise InputError(f"'{name}' is declared twice", place=name.place)
        if str(name) in _THEORY | _RESERVED:
            raise InputError(f"'{name}' has a meaning in SMT-LIB; rename it", place=name.place)
        if not name or not name.isprintable():
            raise Unsupported(f"the name {str(name)!r}", name.place)
        self._names.add(str(name))
        return name

    def take(self, text: str, item: Expression, start: int = 0) -> list[Any]:
        """Let Z3 read `text`, in which what stands at `item` begins at `start`; its assertions."""
        _check(item)
        try:
            found = self._parser.from_string(text)
            return [found[number] for number in range(len(found))]
        except z3.Z3Exception as error:
            raise self._explained(error, item, start) from None

    def formula(self, item: Expression) -> Any:
        """The formula that stands there."""
        head = "(assert "
        return self.take(f"{head}{self.part(item)})", item, len(head))[0]

    def _explained(self, error: Exception, item: Expression, start: int) -> Exception:
        raw = error.args[0] if error.args else b""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        found = _ERROR.search(text)
        if found is None:
            return Unsupported(f"this ({text.strip() or 'no reason given'})", item.place)
        line, column = int(found[1] or 1), int(found[2] or 1)
        first = item.place
        if line > 1:
            place = Place(self.file, (first.line or 1) + line - 1, column)
        else:
            place = Place(self.file, first.line, max((first.column or 1) + column - 1 - start, 1))
        return _in_our_words(" ".join(found[3].split()), place)


def _in_our_words(said: str, place: Place) -> Exception:
    if unknown := re.match(r"unknown (?:constant|function/constant|sort) (\S+)( \(.*?\)+ )?", said):
        if "declared:" in said:
            wanted = said.partition("declared:")[2].strip()
            return InputError(
                f"'{unknown[1]}' is applied to arguments {(unknown[2] or '').strip()}, but "
                f"declared as {wanted}",
                place=place,
            )
        return InputError(f"'{unknown[1]}' is not declared", place=place)
    if re.search(r"[Nn]ot supported|unsupported", said):
        return Unsupported(said, place)
    return InputError(said[:300], place=place)


def _check(item: Expression) -> None:
    """Refuses what Z3 reads leniently: operators without arguments, names bound twice."""
    todo: list[Expression] = [item]
    while todo:
        part = todo.pop()
        if isinstance(part, Symbol) or not part:
            continue
        todo += part
        head = part[0]
        if not isinstance(head, Symbol) or head.quoted:
            continue
        least = _ARITY.get(head, 0)
        if 1 < len(part) <= least:
            raise InputError(f"'{head}' needs at least {least} arguments", place=head.place)
        if head in ("let", "forall", "exists") and len(part) == 3:
            _distinct(part[1])
        if head == "define-fun" and len(part) == 5:
            _distinct(part[2])


def _distinct(binders: Expression) -> None:
    seen: set[str] = set()
    for binder in binders if isinstance(binders, Group) else ():
        name = binder[0] if isinstance(binder, Group) and binder else None
        if isinstance(name, Symbol):
            if name in seen:
                raise InputError(f"'{name}' is bound twice", place=name.place)
            if name in ("true", "false"):
                raise InputError(f"'{name}' has a meaning in SMT-LIB", place=name.place)
            seen.add(str(name))
