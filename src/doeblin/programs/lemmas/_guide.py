"""What a program says of its arrays: the variables that are indices, and what bounds them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from ..learner import Suggestions, linear
from ..system import Assign, Assume, Branch, Graph, Load, Store
from ..system.terms import Term, postorder, variables

Form = tuple[tuple[tuple[str, int], ...], int]  # variables with factors, and what is added
_SMALL = 50  # constants that bound a cell
_LIMITS = 3
_FAR = 1 << 24  # beyond it are the limits of types


@dataclass(frozen=True)
class Guide:
    """What a program says of its arrays: the variables that indices are made of or compared with,
    its comparisons and constants."""

    indices: frozenset[str]
    found: Suggestions
    constants: frozenset[int] = field(default_factory=frozenset)
    steps: frozenset[int] = field(default_factory=frozenset)  # by which variables go on
    places: frozenset[int] = field(default_factory=frozenset)  # constants that are indices
    forms: tuple[Form, ...] = ()  # of indices that are no variable and no constant
    limits: tuple[int, ...] = ()  # constants that indices are below


def guide(graph: Graph, found: Suggestions, bases: Container[str] = ()) -> Guide:
    """Of a program with arrays; they may be counted from `bases`, that no index is held against."""
    indices: set[str] = set()
    compared: list[set[str]] = []
    copies: list[tuple[str, str]] = []
    places: set[int] = set()
    forms: dict[Form, None] = {}
    for block in graph.blocks:
        for statement in block.statements:
            if isinstance(statement, Load | Store):
                indices |= variables(statement.index)
                forms |= dict.fromkeys(_forms_of(statement.index))
                if statement.index.constant:
                    places.add(statement.index.leaf)
            elif isinstance(statement, Assign) and statement.value.op == "var":
                copies.append((statement.name, statement.value.leaf))
            elif isinstance(statement, Assume):
                compared += _compared(statement.condition)
        if isinstance(block.end, Branch):
            compared += _compared(block.end.condition)
    compared = [{name for name in names if name not in bases} for names in compared]
    loaded = {s.name for block in graph.blocks for s in block.statements if isinstance(s, Load)}
    for _ in range(3):
        for names in compared:
            if names & indices and not names & loaded:
                indices |= names
        indices |= {source for name, source in copies if name in indices}
    small = frozenset(c for c in found.constants if abs(c) <= _SMALL) | {-1, 0, 1, 2}
    kept = {name for name in indices - loaded if name not in bases}
    forms |= dict.fromkeys(_moved(forms, compared))
    steps = frozenset(_steps(graph))
    limits = tuple(sorted({*_limits(found, kept, forms)}))[-_LIMITS:]
    return Guide(frozenset(kept), found, small, steps, frozenset(places), tuple(forms), limits)


def _limits(found: Suggestions, indices: set[str], forms: Iterable[Form]) -> Iterable[int]:
    """Constants that variables are below, and so what is computed from these."""
    of: dict[str, int] = {}
    for form, op, bound in found.forms:
        if 1 < bound < _FAR and len(form) == 1 and form[0][1] == 1 and form[0][0] in indices:
            of[form[0][0]] = max(of.get(form[0][0], 0), bound + (op != "="))
    yield from of.values()
    for form, added in forms:
        if all(name in of and factor > 0 for name, factor in form):
            yield sum(factor * (of[name] - 1) for name, factor in form) + added + 1


def _forms_of(index: Term) -> Iterable[Form]:
    for form, added in linear(index, str):
        if form and (added or any(factor != 1 for factor in form.values()) or len(form) > 1):
            yield tuple(sorted(form.items())), added


def _moved(forms: Iterable[Form], compared: list[set[str]]) -> list[Form]:
    """The forms with what a variable is compared with in its place: where an index ends."""
    found = []
    for form, added in forms:
        for name, factor in form if len(form) == 1 else ():
            others = sorted({other for names in compared if name in names for other in names})
            found += [(((other, factor),), added) for other in others if other != name]
        if len(form) > 1:  # of a row, where it begins
            found += [((part,), 0) for part in form if part[1] != 1]
    return found


def _steps(graph: Graph) -> Iterable[int]:
    for block in graph.blocks:
        for statement in block.statements:
            if isinstance(statement, Assign) and statement.value.op == "+":
                first, *rest = statement.value.args
                own = first.op == "var" and first.leaf == statement.name
                if own and len(rest) == 1 and rest[0].constant:
                    yield abs(rest[0].leaf)


def _compared(condition: Term) -> list[set[str]]:
    nodes = (n for n in postorder(condition) if n.op in ("<=", "<", "=") and not n.args[0].boolean)
    return [variables(node) for node in nodes]
