"""Parameters that point, and what functions do with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast

_CHANGING = frozenset({"++", "--", "p++", "p--", "&"})
_Handed = list[tuple[str, int]]  # functions, and the number of their parameter


def only_reads(
    functions: dict[str, Any], name: str, number: int, to_integers: Callable[[Any], bool]
) -> bool:
    """Does a function only read cells of what a parameter points to, itself and in the functions
    that it gives the parameter to? Only if those cells are integers."""
    todo: _Handed = [(name, number)]
    seen: set[tuple[str, int]] = set()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        definition = functions.get(one[0])
        listed = definition.decl.type.args if definition is not None else None
        if definition is None or definition.param_decls or listed is None:
            return False
        if one[1] >= len(listed.params) or isinstance(listed.params[one[1]], c_ast.EllipsisParam):
            return False
        parameter = listed.params[one[1]]
        if getattr(parameter, "name", None) is None:
            continue
        handed = _handed(definition.body, parameter.name)
        if handed is None or not to_integers(parameter):
            return False
        todo += handed
    return True


def _handed(body: Any, name: str) -> _Handed | None:
    """The functions that a name is given to; None where more is done with it than to read cells."""
    found: _Handed = []
    todo = [body]
    while todo:
        node = todo.pop()
        changed = None
        if isinstance(node, c_ast.Assignment):
            changed = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in _CHANGING:
            changed = node.expr
        if (changed is not None and _root(changed) == name) or _is(node, name):
            return None
        if isinstance(node, c_ast.FuncCall):
            arguments = node.args.exprs if node.args else ()
            for number, argument in enumerate(arguments):
                if not _is(argument, name):
                    todo.append(argument)
                elif isinstance(node.name, c_ast.ID):
                    found.append((node.name.name, number))
                else:
                    return None
            todo.append(node.name)
        elif isinstance(node, c_ast.ArrayRef) and _is(node.name, name):
            todo.append(node.subscript)
        elif isinstance(node, c_ast.StructRef):
            todo.append(node.name)
        elif not (isinstance(node, c_ast.UnaryOp) and node.op == "*" and _is(node.expr, name)):
            todo += [child for _, child in node.children()]
    return found


def _is(node: Any, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _root(node: Any) -> str | None:
    """The name that a designator begins with."""
    while not isinstance(node, c_ast.ID):
        if isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
            node = node.name
        elif isinstance(node, c_ast.UnaryOp | c_ast.Cast):
            node = node.expr
        else:
            return None
    return node.name
