"""The order of evaluation, which C leaves open: expressions whose meaning depends on it are found
and refused.

An expression's effects are what it reads and writes, itself and in the functions that it calls.
Two operands interfere if one writes what the other reads or writes; or if one may end the run and
the other may fail. Without a call between them that is undefined (C11 6.5p2), else unspecified.
"""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ._effects import Effects
from ._library import (
    ASSERTIONS,
    ASSUMPTIONS,
    ENDINGS,
    FAILURES,
    FREEING,
    MODELLED,
    UNREACHABLE,
    VIOLATION,
    is_input,
)
from ._static import STEPS, Static
from ._unsupported import Unsupported
from .tree import assigned, mentions_pointers, only_reads
from .types import CType, Opaque

FALLIBLE = frozenset({"/", "%", "<<", ">>"})
_HEAP = "allocated memory"  # which of its objects are there: what pointers are worth
_ANYTHING = "*"  # what a function without a body may change: every global
_FAILING = ASSERTIONS | FAILURES | UNREACHABLE | {VIOLATION}
_ENDING = ASSUMPTIONS | ENDINGS
Inner = list[dict[str, str | None]]
_CONVERTING = c_ast.Cast | c_ast.Assignment | c_ast.FuncCall | c_ast.Return | c_ast.Decl
_LOOPS = c_ast.While | c_ast.DoWhile | c_ast.For | c_ast.Goto


class Order(Static):
    """Finds expressions whose operands interfere."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.noreturn: set[str] = set()
        self._quiet: dict[int, bool] = {}
        self._summaries: dict[str, Effects] = {}
        self.recursive: dict[str, frozenset[str]] = {}  # with whom each function calls itself

    def check_operands(self, operands: list[Any], node: Any) -> None:
        """Refuse operands that are evaluated in any order and interfere."""
        if len(operands) < 2 or all(map(self.quiet, operands)):
            return
        effects = [self.effects_of(operand) for operand in operands]
        for number, one in enumerate(effects):
            for other in effects[number + 1 :]:
                self._check_pair(one, other, node)

    def check_designator(self, node: Any) -> None:
        """Refuse `a[a[0]++]`: what is designated is changed by what leads there."""
        loud = [part for part in self.operands(node) if not self.quiet(part)]
        loose = {name for part in loud for name in self.effects_of(part).loose}
        if met := loose & self.designated(node):
            raise self._undefined(min(met), node)

    def check_assignment(self, node: Any) -> None:
        """Refuse `i = i++`, and `x += f()` where the function changes x."""
        if self.quiet(node.rvalue):
            return
        value = self.effects_of(node.rvalue)
        targets = self.designated(node.lvalue)
        met = targets & (value.loose if node.op == "=" else value.loose | value.writes)
        if met and not self._by_numbers(node):
            raise self._undefined(min(met), node)
        if node.op != "=":
            self._check_pair(Effects(reads=targets), value, node)

    def _by_numbers(self, node: Any) -> bool:
        """Is it `a[0] = a[1] = 0` and the like, with cells of one array that differ?"""
        cells: list[tuple[str, int]] = []
        while isinstance(node, c_ast.Assignment):
            cell = node.lvalue
            plain = isinstance(cell, c_ast.ArrayRef) and isinstance(cell.name, c_ast.ID)
            if not plain or not self.is_constant(cell.subscript):
                return False
            cells.append((cell.name.name, self.constant(cell.subscript)[0]))
            node = node.rvalue
        names = {name for name, _ in cells}
        return len(names) == 1 and len(set(cells)) == len(cells) and self.quiet(node)

    def quiet(self, node: Any) -> bool:
        """Is there no side effect or call in the expression?"""
        known = self._quiet.get(id(node))
        if known is None:
            known = not (
                isinstance(node, c_ast.Assignment | c_ast.FuncCall)
                or (isinstance(node, c_ast.UnaryOp) and node.op in STEPS)
            ) and all(self.quiet(child) for _, child in node.children())
            self._quiet[id(node)] = known
        return known

    def _check_pair(self, one: Effects, other: Effects, node: Any) -> None:
        for a, b in ((one, other), (other, one)):
            if both := a.writes & (b.reads | b.writes):
                raise self._undefined(min(both), node)
            met = a.called_writes & (b.reads | b.writes | b.called_reads | b.called_writes)
            met |= a.writes & (b.called_reads | b.called_writes)
            met.discard(_ANYTHING)
            touched = b.reads | b.writes | b.called_reads | b.called_writes
            if _ANYTHING in a.called_writes:
                known = self.scopes[0].values()
                met |= touched & {name for slot in known for name in slot.names()}
            # What only reads is looked at first, if it comes first: a failure there is one in
            # some order, and if there is none there, there is none in any.
            waits = a.stays and b.fails and (a is one or b.calls)
            if met or (a.ends and b.fails) or waits:
                raise Unsupported(
                    "the order of evaluation",
                    self.place(node),
                    said="order of evaluation is unspecified",
                )

    def _undefined(self, name: str, node: Any) -> Unsupported:
        known = name in self.graph.variables or name in self.graph.arrays
        shown = self.graph.shown(name) if known else name
        # Of an array it is known only that it is one of the cells, and maybe another.
        changed = "may be changed" if "[" in shown else "is changed"
        return Unsupported(
            "unsequenced side effects",
            self.place(node),
            said=f"undefined behaviour: '{shown}' {changed} and used without a sequence point",
        )

    # ---- effects of expressions

    def effects_of(self, node: Any) -> Effects:
        return self._effects(node, [])

    def _key(self, name: str, inner: Inner) -> set[str]:
        """The variable that a name stands for; nothing if it matters to nobody else."""
        for scope in reversed(inner):
            if name in scope:
                own = scope[name]
                return {own} if own is not None else set()
        slot = self.scopes[0].get(name) if inner else self.lookup(name)
        return slot.names() if slot is not None else set()

    def pointees(self, node: Any) -> set[str]:
        """The variables that an expression may point to."""
        raise AssertionError("given by Pointers")

    def all_pointees(self) -> set[str]:
        """The variables that any pointer may point to."""
        raise AssertionError("given by Pointers")

    def designated(self, node: Any, inner: Inner | None = None) -> set[str]:
        """The variables that a designator may stand for."""
        inner = inner or []
        if isinstance(node, c_ast.ID):
            return self._key(node.name, inner)
        if isinstance(node, c_ast.ArrayRef):
            return self._pointed(node.name, inner)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self._pointed(node.expr, inner)
        if isinstance(node, c_ast.StructRef):
            return (self._pointed if node.type == "->" else self.designated)(node.name, inner)
        return set()

    def operands(self, node: Any) -> list[Any]:
        """What is evaluated to find what a designator stands for."""
        raise AssertionError("given by Lvalues")

    def _pointed(self, node: Any, inner: Inner) -> set[str]:
        """What an expression may point to; of a function that is being summarised, what it is given
        counts where it is called."""
        if not inner:
            return self.pointees(node)
        while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
            node = node.name
        found: set[str] = set()
        todo = [node]
        while todo:
            part = todo.pop()
            if isinstance(part, c_ast.ID):
                found |= self._pointed_by(part.name, inner)
            elif isinstance(part, c_ast.FuncCall | c_ast.StructRef):
                found |= self.all_pointees()
            elif not isinstance(part, c_ast.ArrayRef):
                todo += [child for _, child in part.children()]
        return found

    def _pointed_by(self, name: str, inner: Inner) -> set[str]:
        if any(name in scope for scope in inner[1:]):
            return self.all_pointees() | self._key(name, inner)
        slot = None if name in inner[0] else self.scopes[0].get(name)
        if slot is None:
            return set()
        if slot.cells is not None or slot.fields is not None:
            return slot.names()
        return self.all_pointees() if slot.pointer is not None else set()

    def _effects(self, node: Any, inner: Inner) -> Effects:
        """`inner` are the scopes of a function that is being summarised, outermost first: that of
        the parameters which always point to what was given, and the others."""
        found = Effects()
        if isinstance(node, c_ast.ID):
            found.reads |= self._key(node.name, inner)
            slot = None if inner else self.lookup(node.name)
            found.reads |= {_HEAP} if slot is not None and slot.pointer is not None else set()
        elif isinstance(node, c_ast.FuncDecl) or (
            isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof")
        ):
            pass
        elif isinstance(node, c_ast.GenericSelection):
            for item in node.associations:
                found.add(self._effects(item.expr, inner))
        elif isinstance(node, c_ast.UnaryOp) and node.op in STEPS:
            found.add(self._effects(node.expr, inner))
            self._write(found, node.expr, inner)
        elif isinstance(node, c_ast.Assignment):
            found.add(self._effects(node.rvalue, inner))
            if node.op != "=" or not isinstance(node.lvalue, c_ast.ID):
                found.add(self._effects(node.lvalue, inner))
            op = node.op[:-1]
            found.fails |= op in FALLIBLE and not sound(op, node.rvalue)
            self._write(found, node.lvalue, inner)
        elif isinstance(node, c_ast.BinaryOp):
            found.add(self._effects(node.left, inner), sequenced=node.op in ("&&", "||"))
            found.add(self._effects(node.right, inner))
            found.fails |= node.op in FALLIBLE and not sound(node.op, node.right)
        elif isinstance(node, c_ast.TernaryOp):
            found.add(self._effects(node.cond, inner), sequenced=True)
            found.add(self._effects(node.iftrue, inner))
            found.add(self._effects(node.iffalse, inner))
        elif isinstance(node, c_ast.ExprList):
            for item in node.exprs[:-1]:
                found.add(self._effects(item, inner), sequenced=True)
            found.add(self._effects(node.exprs[-1], inner))
        elif isinstance(node, c_ast.FuncCall):
            name = node.name.name if isinstance(node.name, c_ast.ID) else ""
            for number, argument in enumerate(node.args.exprs if node.args else ()):
                found.add(self._effects(argument, inner), sequenced=True)
                written = not only_reads(self.functions, name, number, self._to_integers)
                self._given_away(found, argument, inner, written)
            found.call(self._summary(name))
        elif isinstance(node, c_ast.UnaryOp) and node.op == "&":
            if not isinstance(node.expr, c_ast.ID):
                for _, child in node.expr.children():
                    found.add(self._effects(child, inner))
                found.fails = True
        elif isinstance(node, c_ast.ArrayRef | c_ast.StructRef) or _is_star(node):
            # An index may be out of bounds, and a pointer null.
            found.reads |= self.designated(node, inner)
            parts = _inner(node) if inner else self.operands(node)
            for part in parts:
                found.add(self._effects(part, inner))
            found.fails |= bool(parts)
        else:
            self._statement_effects(node, inner, found)
        if not inner and isinstance(node, c_ast.BinaryOp | c_ast.UnaryOp | c_ast.Assignment):
            found.fails |= self.pointing(node)
        found.fails |= self.floats and isinstance(node, _CONVERTING)
        return found

    def pointing(self, node: Any) -> bool:
        """Is it arithmetic of pointers, which may leave their objects?"""
        raise AssertionError("given by Pointers")

    def _to_integers(self, parameter: Any) -> bool:
        return isinstance(self.parameter_type(parameter), CType)

    def parameter_type(self, parameter: Any) -> CType | Opaque | None:
        raise AssertionError("given by Pointers")

    def _given_away(self, found: Effects, argument: Any, inner: Inner, written: bool) -> None:
        """An argument that points: the function may read what is there, and may change it."""
        if isinstance(argument, c_ast.Constant):
            return
        if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
            names = self.designated(argument.expr, inner)
        else:
            names = self._pointed(argument, inner)
        if names:
            found.called_reads |= names
            found.called_writes |= names if written else set()
            found.fails = True

    def _write(self, found: Effects, node: Any, inner: Inner) -> None:
        names = self.designated(node, inner)
        found.writes |= names
        found.loose |= names

    # ---- effects of functions

    def _summary(self, name: str) -> Effects:
        """What a call of the function may do to variables that outlive it."""
        if name in self._summaries:
            return self._summaries[name]
        found = Effects()
        if name in self.recursive:
            return self._recursive_summary(name)
        if name in FAILURES:
            found.fails = True
        elif name in self.functions:
            definition = self.functions[name]
            found = self._effects(definition.body, self._parameters(name))
            found.fails |= mentions_pointers(definition)
            found.reads.add(_HEAP)
        elif name in MODELLED or is_input(name):
            found.fails = name in _FAILING or name in FREEING
            found.called_writes |= {_HEAP} if name in FREEING else set()
            found.ends = name in _ENDING
        else:
            found.called_writes.add(_ANYTHING)
            found.ends = name in self.noreturn
        self._summaries[name] = found
        return found

    def _recursive_summary(self, name: str) -> Effects:
        """Of functions that call each other: what any of them does, any may do; and it may go on
        for ever."""
        together = Effects(stays=True)
        for other in self.recursive[name]:
            self._summaries[other] = together
        for other in self.recursive[name]:
            together.add(self._effects(self.functions[other].body, self._parameters(other)))
            together.fails |= mentions_pointers(self.functions[other])
        return together

    def _parameters(self, name: str) -> list[dict[str, str | None]]:
        """The parameters of a function: those that it never assigns to, and the others."""
        arguments = self.functions[name].decl.type.args
        names = (getattr(p, "name", None) for p in (arguments.params if arguments else ()))
        changed = assigned(self.functions[name].body)
        scopes: list[dict[str, str | None]] = [{}, {}]
        for parameter in filter(None, names):
            scopes[parameter in changed][parameter] = None
        return scopes

    def _statement_effects(self, node: Any, inner: Inner, found: Effects) -> None:
        if isinstance(node, c_ast.Decl) and inner:
            if "static" in node.storage:
                inner[-1][node.name] = f"static {id(node)}"
            elif "extern" in node.storage:
                slot = self.scopes[0].get(node.name)
                inner[-1][node.name] = slot.name if slot else None
            elif node.name:
                inner[-1][node.name] = None
        found.ends |= isinstance(node, _LOOPS)
        found.fails |= isinstance(node, c_ast.Label) and node.name == "ERROR"
        opens = bool(inner) and isinstance(node, c_ast.Compound | c_ast.For)
        if opens:
            inner.append({})
        sequenced = not isinstance(node, c_ast.Cast | c_ast.UnaryOp | c_ast.ArrayRef)
        for _, child in node.children():
            found.add(self._effects(child, inner), sequenced=sequenced)
        if opens:
            inner.pop()


def _inner(node: Any) -> list[Any]:
    """The expressions in a designator."""
    if isinstance(node, c_ast.StructRef):
        return [node.name]
    return [child for _, child in node.children()]


def _is_star(node: Any) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "*"


def sound(op: str, right: Any) -> bool:
    """Is the right operand a constant with which the operator cannot fail?"""
    if not isinstance(right, c_ast.Constant) or not right.value.isdigit():
        return False
    if op in ("/", "%"):
        return right.value.strip("0") != ""
    return right.value == "0" or (right.value[0] != "0" and int(right.value) < 31)
