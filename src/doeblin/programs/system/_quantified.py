"""Formulas about any one cell, as people and ACSL write them: for all indices."""

from __future__ import annotations

from collections.abc import Callable

from ._system import Cells
from .terms import Term, compare, conj, const, negate, variables


def shown_formula(
    term: Term,
    cells: Cells | None,
    text: Callable[[Term], str],
    *,
    acsl: bool = False,
) -> str:
    """The formula as text: what holds of the state, then what holds at every index."""
    about = set() if cells is None else cells.local
    if cells is None or not about & variables(term):
        return text(term)
    parts = term.args if term.op == "and" else (term,)
    plain = [part for part in parts if not about & variables(part)]
    found = [text(conj(plain))] if plain else []
    for part in parts:
        if about & variables(part):
            inner = _implication(part, text, acsl)
            if acsl:
                found.append(f"(\\forall integer {cells.at}; {inner})")
            else:
                found.append(f"(for all {cells.at}: {inner})")
    return " && ".join(found)


def _implication(term: Term, text: Callable[[Term], str], acsl: bool) -> str:
    """A disjunction as `if this then that`, where that reads well."""
    if term.op != "or":
        return text(term)
    *before, last = term.args
    arrow = "==>" if acsl else "->"
    return f"{text(conj(map(_negated, before)))} {arrow} {text(last)}"


def _negated(term: Term) -> Term:
    """The negation, with `0 <= k` rather than `-1 < k`."""
    found = negate(term)
    if found.op == "<" and found.args[0].constant and not found.args[0].boolean:
        return compare("<=", const(found.args[0].leaf + 1), found.args[1])
    return found
