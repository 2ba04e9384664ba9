"""What the tree of a C file says by its shape, before anything is known of types and lengths."""

from __future__ import annotations

import re
from typing import Any

from pycparser import c_ast

from .._library import ALLOCATING, FAILURES
from ._tree import parts

_MOST_SCALARS = 64
_FLOATING = re.compile(r"float|double|fabs|isnan|isfinite")  # functions that need not be declared


def indexed_by_constants(tree: Any) -> dict[str, set[tuple[int, ...]]]:
    """The names that are used with constants as indices and not otherwise, and those indices."""
    found: dict[str, set[tuple[int, ...]]] = {}
    others: set[str] = set()
    todo = [tree]
    while todo:
        node = todo.pop()
        if node is None:
            continue
        if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
            continue
        if isinstance(node, c_ast.ID):
            others.add(node.name)
        elif isinstance(node, c_ast.UnaryOp) and node.op == "&":
            others |= names_in(node)
        elif isinstance(node, c_ast.ArrayRef):
            indices: list[Any] = []
            base: Any = node
            while isinstance(base, c_ast.ArrayRef):
                indices.insert(0, base.subscript)
                base = base.name
            values = [i.value for i in indices if isinstance(i, c_ast.Constant) and i.type == "int"]
            simple = len(values) == len(indices) and all(v.isdigit() for v in values)
            if simple and isinstance(base, c_ast.ID):
                whole = tuple(int(v, 8 if v[0] == "0" and len(v) > 1 else 10) for v in values)
                found.setdefault(base.name, set()).add(whole)
            else:
                todo += [base, *indices]
        else:
            todo += [child for _, child in node.children()]
    return {
        name: used
        for name, used in found.items()
        if name not in others and len(used) <= _MOST_SCALARS
    }


_STATEMENTS = (
    c_ast.FileAST, c_ast.FuncDef, c_ast.Compound, c_ast.Label, c_ast.Case, c_ast.Default,
    c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.For, c_ast.Switch,
)  # fmt: skip


def only_assigned(tree: Any) -> set[str]:
    """The names that stand on the left of `=`, in statements, and nowhere else: nobody reads these
    variables."""
    found: set[str] = set()
    others: set[str] = set()
    todo = [(tree, False)]
    while todo:
        node, used = todo.pop()
        if isinstance(node, c_ast.ID):
            others.add(node.name)
        elif (
            isinstance(node, c_ast.Assignment)
            and node.op == "="
            and isinstance(node.lvalue, c_ast.ID)
        ):
            (others if used else found).add(node.lvalue.name)
            todo.append((node.rvalue, True))
        else:
            outer = isinstance(node, _STATEMENTS)
            todo += [(child, not outer or part == "cond") for part, child in node.children()]
    return found - others


def names_in(node: Any) -> set[str]:
    """The names that stand in expressions."""
    return {part.name for part in parts(node) if isinstance(part, c_ast.ID)}


def reached_from_outside(functions: dict[str, Any]) -> set[str]:
    """The functions other than `main` that another file may call, and those they mention."""
    todo = [n for n, f in functions.items() if n != "main" and "static" not in f.decl.storage]
    found: set[str] = set(todo)
    while todo:
        new = (names_in(functions[todo.pop()]) & functions.keys()) - found
        found |= new
        todo += new
    return found


def assigned(node: Any, *, steps: bool = False) -> set[str]:
    """The names that are given another value; with `steps`, also those that are moved on, or whose
    address is taken."""
    found: set[str] = set()
    for part in parts(node):
        target = None
        if isinstance(part, c_ast.Assignment) and (steps or part.op == "="):
            target = part.lvalue
        elif steps and isinstance(part, c_ast.UnaryOp) and part.op in _CHANGING:
            target = part.expr
        if isinstance(target, c_ast.ID):
            found.add(target.name)
        elif isinstance(target, c_ast.GenericSelection):  # one of these
            found |= names_in(target)
    return found


_CHANGING = frozenset({"++", "--", "p++", "p--", "&"})


def mentions_pointers(node: Any) -> bool:
    """Is a pointer declared there?"""
    return any(isinstance(part, c_ast.PtrDecl) for part in parts(node))


def flat(lengths: list[int], index: tuple[int, ...]) -> int | None:
    at = 0
    for number, length in zip(index, lengths, strict=True):
        if not 0 <= number < length:
            return None
        at = at * length + number
    return at


def brackets(lengths: list[int], at: int) -> str:
    text = ""
    for length in reversed(lengths):
        at, number = divmod(at, length)
        text = f"[{number}]{text}"
    return text


def is_text(node: Any) -> bool:
    return isinstance(node, c_ast.Constant) and node.type == "string"


def nested(node: Any) -> list[Any]:
    if not isinstance(node, c_ast.InitList):
        return [node]
    return [item for part in node.exprs for item in (part, *nested(part))]


def pointed(node: Any) -> tuple[list[Any], Any] | None:
    """Of a parameter that points to cells: the lengths of rows, and the type of a cell."""
    if not isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl):
        return None
    dims: list[Any] = []
    inner = node.type
    while isinstance(inner, c_ast.ArrayDecl):
        dims.append(inner.dim)
        inner = inner.type
    return (dims, inner) if isinstance(inner, c_ast.TypeDecl) else None


def failing(node: Any) -> Any:
    """The first call of a failure function in a statement, as after `ERROR:`."""
    calls = (part for part in parts(node) if isinstance(part, c_ast.FuncCall))
    return next((call for call in calls if getattr(call.name, "name", None) in FAILURES), None)


def collect_cases(node: Any, found: list[Any]) -> None:
    """The cases of a switch, in order."""
    if node is None or isinstance(node, c_ast.Switch):
        return
    if isinstance(node, c_ast.Case | c_ast.Default):
        found.append(node)
    for _, child in node.children():
        collect_cases(child, found)


def allocations(tree: Any) -> set[int]:
    """The calls that allocate, if no goto in the file leads back."""
    found: set[int] = set()
    for node in parts(tree):
        if isinstance(node, c_ast.FuncDef) and leads_back(node):
            return set()
        if isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in ALLOCATING:
            found.add(id(node))
    return found


def leads_back(function: Any) -> bool:
    """Does a goto lead to a label before it? None goes on from ERROR."""
    passed: set[str] = set()
    for node in parts(function):
        if isinstance(node, c_ast.Label):
            passed.add(node.name)
        if isinstance(node, c_ast.Goto) and node.name in passed - {"ERROR"}:
            return True
    return False


def is_floating(node: Any) -> bool:
    """Is it a constant of floating point?"""
    return isinstance(node, c_ast.Constant) and ("float" in node.type or "double" in node.type)


def mentions_floats(node: Any) -> bool:
    """Is there floating point anywhere?"""
    return any(
        is_floating(part)
        or (isinstance(part, c_ast.ID) and _FLOATING.search(part.name) is not None)
        or (
            isinstance(part, c_ast.IdentifierType)
            and not {"float", "double"}.isdisjoint(part.names)
        )
        for part in parts(node)
    )


def addressed(node: Any) -> set[str]:
    """The names of which addresses are taken."""
    taken = (p.expr for p in parts(node) if isinstance(p, c_ast.UnaryOp) and p.op == "&")
    return {expr.name for expr in taken if isinstance(expr, c_ast.ID)}
