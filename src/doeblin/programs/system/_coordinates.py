"""What a state with arrays is looked at by, beside any one cell: cells at other places that the
program's indices map to, as `b[2*k + 1]` and `a[n - 1 - k]`; sums of all cells up to a place, where
the program adds cells up; and cells near by, as `a[k - 1]`, or where the program looks, as `a[i]`.
"""

from __future__ import annotations

from dataclasses import replace

from ._graph import Assign, Branch, Graph, Load, Store
from ._system import Cut, Extra
from .terms import Term, add, c_text, const, postorder, substitute, var, variables

_MAPS = 3  # of a cut, at most
_SUMS = 4
_NEAR = 5
_AFFINE = frozenset({"+", "*", "var", "const"})


class Coordinates:
    """Of a program; what there is at each cut follows from the program alone."""

    def __init__(self, graph: Graph):
        indices: dict[str, tuple[str, Term]] = {}
        looked: dict[str, tuple[str, Term]] = {}
        copied: set[str] = set()
        loaded: dict[str, str] = {}
        aside: set[str] = set()
        self._summed: dict[str, None] = {}
        self._ends: dict[str, None] = {}
        meant = _meant(graph)
        for block in graph.blocks:
            for statement in block.statements:
                if isinstance(statement, Load | Store):
                    aside |= variables(statement.index)
                    for term in (statement.index, substitute(statement.index, meant)):
                        key = f"{statement.array} {term!r}"
                        looked[key] = (statement.array, term)
                        if _affine(term):
                            indices[key] = (statement.array, term)
                if isinstance(statement, Assign) and statement.value.op == "var":
                    copied.add(statement.name)
                if isinstance(statement, Load):
                    loaded[statement.name] = statement.array
        self._indices = list(indices.values())
        # Where a place is kept, what is there matters more than where an index passes by.
        rank = {"const": 0, "var": 2, "+": 3}
        self._looked = sorted(
            (pair for pair in looked.values() if pair[1].op in rank and _linear(pair[1])),
            key=lambda pair: 1 if variables(pair[1]) & copied else rank[pair[1].op],
        )
        for block in graph.blocks:
            for statement in block.statements:
                if isinstance(statement, Assign) and statement.value.op == "+":
                    parts = [_single(part) for part in statement.value.args]
                    names = [part for part in parts if part in loaded]
                    if len(parts) > len(names):
                        self._summed |= dict.fromkeys(loaded[name] for name in names if name)
            if isinstance(block.end, Branch):
                for node in postorder(block.end.condition):
                    names = variables(node)
                    if node.op in ("<=", "<") and names & aside and not names & loaded.keys():
                        self._ends |= dict.fromkeys(sorted(names))

    def of(self, cut: Cut, index: str) -> tuple[Extra, ...]:
        """The coordinates of a cut whose arrays are looked at in a place `index`."""
        held = {bank.name: bank.variable for bank in cut.arrays}
        found: dict[str, Extra] = {}
        for array, term in self._indices:
            if array in held:
                for name in sorted(variables(term)):
                    mapped = substitute(term, {name: var(index)})
                    known = variables(mapped) <= {index, *cut.variables}
                    if known and (_turned(term, name) or _beside(term)) and len(found) < _MAPS:
                        text = f"{held[array]}[{c_text(mapped)}]"
                        found.setdefault(f"{array} {text}", Extra(text, array, mapped, "cell"))
        sums = []
        for array in self._summed:
            if array in held:
                ends = [name for name in self._ends if name in cut.variables]
                for name in (index, *ends)[:_SUMS]:
                    sums.append(Extra(f"sum({held[array]}, {name})", array, var(name), "sum"))
        # A variable of the program that is not here may have the name of the index.
        made = [
            extra
            for extra in (*found.values(), *sums, *self._near(cut, index, held))
            if extra.kind == "sum" or extra.index.op != "var" or extra.index.leaf != index
        ]
        names = [extra.name for extra in made]
        taken = {*cut.variables, index, *(f"{bank.name}[{index}]" for bank in cut.arrays)}
        return tuple(
            extra if names.count(extra.name) == 1 and extra.name not in taken
            else replace(extra, name=f"{extra.name}#{number}")
            for number, extra in enumerate(made)
        )  # fmt: skip

    def _near(self, cut: Cut, index: str, held: dict[str, str]) -> list[Extra]:
        found: dict[str, Extra] = {}
        steps = [(array, step) for array, term in self._looked if (step := _step(term))]
        places = [(array, add(var(index), const(step))) for array, step in steps]
        places += self._looked
        for array, term in places:
            if array in held and variables(term) <= {index, *cut.variables} and len(found) < _NEAR:
                text = f"{held[array]}[{c_text(term)}]"
                found.setdefault(f"{array} {text}", Extra(text, array, term, "cell", near=True))
        return list(found.values())


def _meant(graph: Graph) -> dict[str, Term]:
    """What is assigned once: an index that is computed before what is stored there has a name of
    its own."""
    given: dict[str, list[Term | None]] = {}
    for block in graph.blocks:
        for statement in block.statements:
            name = getattr(statement, "name", None)
            value = statement.value if isinstance(statement, Assign) else None
            given.setdefault(str(name), []).append(value)
    once = ((name, values[0]) for name, values in given.items() if len(values) == 1)
    return {name: value for name, value in once if value is not None and _affine(value)}


def _step(term: Term) -> int:
    """By how much an index is beside a variable."""
    if term.op != "+" or len(term.args) != 2:
        return 0
    parts = sorted(term.args, key=lambda part: part.constant)
    return parts[1].leaf if parts[0].op == "var" and parts[1].constant else 0


def _affine(term: Term) -> bool:
    return (term.op == "+" and _linear(term)) or (
        term.op == "*" and term.args[0].constant and term.args[1].op == "var"
    )


def _linear(term: Term) -> bool:
    return all(
        node.op in _AFFINE and (node.op != "*" or node.args[0].constant) for node in postorder(term)
    )


def _turned(term: Term, name: str) -> bool:
    """Is a variable in a sum other than once as it is?"""
    parts = term.args if term.op == "+" else (term,)
    return any(
        part.op == "*" and part.args[0].constant and part.args[1].op == "var"
        and part.args[1].leaf == name
        for part in parts
    )  # fmt: skip


def _beside(term: Term) -> bool:
    """Is it a variable so far from another one?"""
    return term.op == "+" and len(variables(term)) == len(term.args) == 2


def _single(term: Term) -> str | None:
    """The variable of a term that is one, or one with a sign."""
    if term.op == "*" and term.args[0].constant:
        term = term.args[1]
    return term.leaf if term.op == "var" else None
