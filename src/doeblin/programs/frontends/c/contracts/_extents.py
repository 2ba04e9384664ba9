"""The cells that the function where a program starts is given by pointers, as its contract says.

`\\separated(a+(0..n-1), b+(0..n-1))` and `\\valid(a+(0..n-1))` name the cells of arrays. What one
call does not name is out of bounds, and two arrays are apart only where that is required.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from ..text import Token, tokenize
from ._acsl import Clause

_KINDS = ("\\separated", "\\valid", "\\valid_read")


class Extents(NamedTuple):
    """Of each pointer the last index that it may be used with, and the pairs that are apart."""

    last: dict[str, list[Token]]
    apart: set[frozenset[str]]


def extents(contract: list[Clause]) -> tuple[Extents, list[Clause]]:
    """What a contract says of pointers, and the clauses that it says something else with."""
    found = Extents({}, set())
    rest = []
    for clause in contract:
        if clause.kind != "requires" or clause.behavior or not _take(clause.words, found):
            rest.append(clause)
    return found, rest


def _take(words: list[Token], found: Extents) -> bool:
    """Does the clause speak of cells only, and is that understood?"""
    taken: list[tuple[str, list[tuple[str, list[Token]]]]] = []
    for part in _split(words, "&&"):
        texts = [word.text for word in part]
        if len(part) < 3 or texts[0] not in _KINDS or texts[1] != "(" or texts[-1] != ")":
            return False
        named = [_range(item) for item in _split(part[2:-1], ",")]
        known = [item for item in named if item is not None]
        if len(known) < len(named):
            return False
        taken.append((texts[0], known))
    for _, items in taken:
        for name, last in items:
            before = found.last.get(name)
            if before is not None and [w.text for w in before] != [w.text for w in last]:
                return False
            found.last[name] = last
    for kind, items in taken:
        if kind == "\\separated":
            names = [name for name, _ in items]
            found.apart.update(frozenset(pair) for pair in combinations(names, 2))
    return True


def _range(words: list[Token]) -> tuple[str, list[Token]] | None:
    """`a + (0 .. last)`: the name and the last index."""
    texts = [word.text for word in words]
    if len(words) < 5 or words[0].kind != "name" or texts[1:3] != ["+", "("] or texts[-1] != ")":
        return None
    first, inner = words[3], words[4:-1]
    if not first.text.startswith("0.."):
        return None
    if left := first.text[3:]:  # `0..size-1` is one word to a preprocessor
        read = tokenize(left, first.place.file)
        inner = [*(word._replace(place=first.place) for word in read), *inner]
    return (texts[0], inner) if inner else None


def _split(words: list[Token], mark: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for word in words:
        depth += {"(": 1, ")": -1}.get(word.text, 0)
        if word.text == mark and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
