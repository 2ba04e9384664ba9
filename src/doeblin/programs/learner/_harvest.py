"""What the program itself suggests: linear forms, constants, coefficients, moduli, guards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...linear import EQ, LE, NE, Atom, Dnf
from ..system import Assign, Assume, Branch, Call, Graph, System
from ..system.terms import Term, compare, postorder

Linear = tuple[dict[str, int], int]
_MOST = 8


@dataclass
class Suggestions:
    """Forms over base names: `(coefficients, op, b)` reads `coefficients·x op b`."""

    forms: list[tuple[tuple[tuple[str, int], ...], str, int]] = field(default_factory=list)
    constants: set[int] = field(default_factory=set)
    coefficients: set[int] = field(default_factory=set)
    moduli: set[int] = field(default_factory=set)
    relevant: list[set[int]] = field(default_factory=list)


def linear(term: Term, rename: Callable[[str], str | None]) -> list[Linear]:
    """The linear forms that a term can take (one for each `ite` side, at most eight)."""
    values: dict[int, list[Linear]] = {}
    for node in postorder(term):
        parts = [values[id(arg)] for arg in node.args]
        values[id(node)] = _linear_node(node, parts, rename)[:_MOST]
    return values[id(term)]


def _linear_node(
    node: Term, parts: list[list[Linear]], rename: Callable[[str], str | None]
) -> list[Linear]:
    if node.boolean:
        return []
    if node.op == "const":
        return [({}, node.leaf)]
    if node.op == "var":
        name = rename(node.leaf)
        return [({name: 1}, 0)] if name is not None else []
    if node.op == "+":
        found: list[Linear] = [({}, 0)]
        for part in parts:
            found = [_add(a, b) for a in found for b in part][:_MOST]
        return found
    if node.op == "*":
        for scale, form in (parts, parts[::-1]):
            if len(scale) == 1 and not scale[0][0]:
                factor = scale[0][1]
                return [({v: factor * c for v, c in a.items()}, factor * b) for a, b in form]
        return []
    if node.op == "ite":
        return parts[1] + parts[2]
    return []


def _add(left: Linear, right: Linear) -> Linear:
    total = dict(left[0])
    for name, coefficient in right[0].items():
        total[name] = total.get(name, 0) + coefficient
    return {n: c for n, c in total.items() if c}, left[1] + right[1]


def harvest(system: System, graph: Graph | None) -> Suggestions:
    """Suggestions from all clauses and, where there is source code, from its own expressions."""
    found = Suggestions()
    bases = base_names(system)
    forms: dict[tuple, None] = {}
    roots = [clause.constraint for clause in system.clauses]
    roots += [arg for clause in system.clauses for arg in clause.args]
    updates: list[tuple[Term, Term]] = []
    for clause in system.clauses:
        if clause.target is not None:
            updates += zip(system.cuts[clause.target].state(), clause.args, strict=True)
    if graph is not None:
        for block in graph.blocks:
            for statement in block.statements:
                if isinstance(statement, Assign):
                    roots.append(statement.value)
                    updates.append((graph.term(statement.name), statement.value))
                elif isinstance(statement, Assume):
                    roots.append(statement.condition)
                elif isinstance(statement, Call):
                    roots += statement.args
            if isinstance(block.end, Branch):
                roots.append(block.end.condition)
    comparisons = [n for n in postorder(*roots) if n.op in ("<=", "<", "=") and not _boolean(n)]
    comparisons += [compare("=", own, value) for own, value in updates if not value.boolean]
    for node in comparisons[:4000]:
        if node.op in ("<=", "<", "="):
            for form in _forms(node, lambda name: bases.get(name, name)):
                forms[form] = None
    for node in postorder(*roots):
        if node.op == "const" and not node.boolean and abs(node.leaf) < 1 << 31:
            found.constants.add(node.leaf)
        elif node.op in ("mod", "trem", "div", "tdiv") and node.args[1].constant:
            found.moduli |= {abs(node.args[1].leaf)} & set(range(2, 65))
    found.forms = list(forms)
    found.coefficients = {abs(c) for form, _, _ in found.forms for _, c in form}
    found.relevant = relevance(system)
    return found


def _boolean(node: Term) -> bool:
    return any(arg.boolean for arg in node.args)


def base_names(system: System) -> dict[str, str]:
    """Of inputs the variables that take them, and of further premises those of their cuts: what is
    said of these is said of those."""
    inputs = (item for clause in system.clauses for item in clause.inputs)
    found = {item.name: item.variable for item in inputs if item.variable is not None}
    for clause in system.clauses:
        for premise in clause.premises:
            own = system.cuts[premise.cut].variables
            if premise.names != own:
                found |= zip(premise.names, own, strict=True)
    return found


def _forms(node: Term, base: Callable[[str], str]) -> Iterable[tuple]:
    for left, a in linear(node.args[0], base):
        for right, b in linear(node.args[1], base):
            form, constant = _add((left, 0), ({n: -c for n, c in right.items()}, 0))[0], b - a
            if not form or len(form) > 8:
                continue
            divisor = math.gcd(*form.values())
            if divisor > 1 and constant % divisor == 0:
                form = {n: c // divisor for n, c in form.items()}
                constant //= divisor
            op = node.op
            yield tuple(sorted(form.items())), op, constant - (op == "<")


def vector_of(form: Iterable[tuple[str, int]], names: tuple[str, ...]) -> tuple[int, ...] | None:
    """The form over a cut's variables, or None when it speaks of others."""
    position = {name: i for i, name in enumerate(names)}
    vector = [0] * len(names)
    for name, coefficient in form:
        if name not in position:
            return None
        vector[position[name]] = coefficient
    return tuple(vector)


def relevance(system: System) -> list[set[int]]:
    """For each cut the variables on which guards can come to depend.

    An equation that defines a next value matters only if that value does, be it by way of another
    variable of the clause; everything else does.
    """
    needs: dict[tuple[int, int | str], set[tuple[int, int | str]]] = {}
    roots: set[tuple[int, int | str]] = set()
    for number, clause in enumerate(system.clauses):
        if not clause.premises:
            continue
        own = {n: (p.cut, i) for p in clause.premises for i, n in enumerate(p.names)}
        following: dict[str, tuple[int, int]] = {}
        for i, arg in enumerate(clause.args):
            slot = (clause.target, i)
            if arg.op == "var" and arg.leaf not in own:
                following[arg.leaf] = slot  # type: ignore[assignment]
            else:
                used = _variables(arg)
                needs.setdefault(slot, set()).update(own[n] for n in used if n in own)  # type: ignore[arg-type]
        for node in postorder(clause.constraint):
            if node.op not in ("<=", "<", "=") or _boolean(node):
                continue
            names = _variables(node)
            mine = {own[n] for n in names if n in own}
            next_ = {following[n] for n in names if n in following}
            between = {(number, n) for n in names if n not in own and n not in following}
            if node.op == "=":
                for slot in next_ | between:
                    needs.setdefault(slot, set()).update(mine | next_ | between)
            if not next_ or node.op != "=":
                roots |= mine | next_
    todo = list(roots)
    while todo:
        for slot in needs.get(todo.pop(), ()):
            if slot not in roots:
                roots.add(slot)
                todo.append(slot)
    found: list[set[int]] = [set() for _ in system.cuts]
    for cut, index in roots:
        if isinstance(index, int):
            found[cut].add(index)
    return [
        kept or set(range(len(c.variables))) for kept, c in zip(found, system.cuts, strict=True)
    ]


def _variables(term: Term) -> set[str]:
    return {node.leaf for node in postorder(term) if node.op == "var"}


# ---- formulas to try first


def dnf_of(
    term: Term, names: tuple[str, ...], *, positive: bool = True, most: int = 8
) -> Dnf | None:
    """A term over a cut's variables as a DNF of atoms; None when it has another shape, or more
    than `most` cubes."""
    cubes = _dnf(term, names, positive, 0)
    if cubes is None or len(cubes) > most:
        return None
    return tuple(tuple(dict.fromkeys(cube)) for cube in cubes)


def _dnf(term: Term, names: tuple[str, ...], positive: bool, depth: int) -> list | None:
    if depth > 60:
        return None
    if term.constant:
        return [()] if term.leaf == positive else []
    if term.op == "not":
        return _dnf(term.args[0], names, not positive, depth + 1)
    if term.op in ("and", "or"):
        parts = [_dnf(arg, names, positive, depth + 1) for arg in term.args]
        if any(part is None for part in parts):
            return None
        if (term.op == "or") == positive:
            found = [cube for part in parts for cube in part]  # type: ignore[union-attr]
            return found if len(found) <= 32 else None
        product: list = [()]
        for part in parts:
            product = [a + b for a in product for b in part]  # type: ignore[union-attr]
            if len(product) > 32:
                return None
        return product
    if term.op in ("<=", "<", "=") and not _boolean(term):
        return _atoms(term, names, positive)
    return None


def _atoms(term: Term, names: tuple[str, ...], positive: bool) -> list | None:
    left, right = term.args
    known = set(names)

    def only(name: str) -> str | None:
        return name if name in known else None

    modulus = 0
    if left.op in ("mod", "trem") and left.args[1].constant and right.constant and term.op == "=":
        modulus, left = left.args[1].leaf, left.args[0]
        if not 2 <= modulus <= 64 or abs(right.leaf) >= modulus:
            return None
    a, b = linear(left, only), linear(right, only)
    if len(a) != 1 or len(b) != 1:
        return None
    form, _ = _add((a[0][0], 0), ({n: -c for n, c in b[0][0].items()}, 0))
    constant = b[0][1] - a[0][1]
    vector = vector_of(form.items(), names)
    if vector is None:
        return None
    if not any(vector):
        return None
    flipped = tuple(-c for c in vector)
    if modulus:
        rest = right.leaf if term.args[0].op == "trem" else 0
        alike = Atom(vector, EQ if positive else NE, constant % modulus, modulus)
        if rest == 0:
            return [(alike,)]
        # In C a remainder has the sign of what is divided.
        offset = constant - rest
        sign = Atom(flipped, LE, -offset - 1) if rest > 0 else Atom(vector, LE, offset - 1)
        other = Atom(vector, LE, offset) if rest > 0 else Atom(flipped, LE, -offset)
        return [(alike, sign)] if positive else [(alike,), (other,)]
    if term.op == "=":
        if positive:
            return [(Atom(vector, EQ, constant),)]
        return [(Atom(vector, LE, constant - 1),), (Atom(flipped, LE, -constant - 1),)]
    bound = constant - (term.op == "<")
    if positive:
        return [(Atom(vector, LE, bound),)]
    return [(Atom(flipped, LE, -bound - 1),)]
