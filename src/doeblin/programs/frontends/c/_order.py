"""The order of evaluation, which C leaves open: expressions whose meaning depends on it are found
and refused.

An expression's effects are what it reads and writes, itself and in the functions that it calls.
Two operands interfere if one writes what the other reads or writes; or if one may end the run and
the other may fail. Without a call between them that is undefined (C11 6.5p2), else unspecified.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from ._library import (
    ASSERTIONS,
    ASSUMPTIONS,
    ENDINGS,
    FAILURES,
    MODELLED,
    UNREACHABLE,
    VIOLATION,
    is_input,
)
from ._static import STEPS, Static
from ._unsupported import Unsupported

FALLIBLE = frozenset({"/", "%", "<<", ">>"})
_ANYTHING = "*"  # what a function without a body may change: every global
_FAILING = ASSERTIONS | FAILURES | UNREACHABLE | {VIOLATION}
_ENDING = ASSUMPTIONS | ENDINGS
_LOOPS = c_ast.While | c_ast.DoWhile | c_ast.For | c_ast.Goto


@dataclass
class Effects:
    """What evaluation reads and writes itself, and in calls; `loose` are writes that need not be
    done when the value is there."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    called_reads: set[str] = field(default_factory=set)
    called_writes: set[str] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    ends: bool = False
    fails: bool = False

    def add(self, other: Effects, *, sequenced: bool = False) -> None:
        self.reads |= other.reads
        self.writes |= other.writes
        self.called_reads |= other.called_reads
        self.called_writes |= other.called_writes
        if not sequenced:
            self.loose |= other.loose
        self.ends |= other.ends
        self.fails |= other.fails

    def call(self, body: Effects) -> None:
        """What a called function does."""
        self.called_reads |= body.reads | body.called_reads
        self.called_writes |= body.writes | body.called_writes
        self.ends |= body.ends
        self.fails |= body.fails


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

    def check_assignment(self, node: Any) -> None:
        """Refuse `i = i++`, and `x += f()` where the function changes x."""
        base = _base(node.lvalue)
        if self.quiet(node.rvalue) or base is None:
            return
        value = self.effects_of(node.rvalue)
        target = self._key(base)
        if target is None:
            return
        if target in value.loose or (node.op != "=" and target in value.writes):
            raise self._undefined(base, node)
        if node.op != "=":
            self._check_pair(Effects(reads={target}), value, node)

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
                met |= touched & {slot.name for slot in known if slot.name}
                met |= touched & {slot.cells.name for slot in known if slot.cells}
            if met or (a.ends and b.fails):
                raise Unsupported(
                    "the order of evaluation",
                    self.place(node),
                    said="order of evaluation is unspecified",
                )

    def _undefined(self, name: str, node: Any) -> Unsupported:
        shown = name.partition("#")[0]
        return Unsupported(
            "unsequenced side effects",
            self.place(node),
            said=f"undefined behaviour: '{shown}' is changed and used without a sequence point",
        )

    # ---- effects of expressions

    def effects_of(self, node: Any) -> Effects:
        return self._effects(node, [])

    def _key(self, name: str, inner: list[dict[str, str | None]] | None = None) -> str | None:
        """The variable that a name stands for; None if it matters to nobody else."""
        for scope in reversed(inner or []):
            if name in scope:
                return scope[name]
        slot = self.scopes[0].get(name) if inner else self.lookup(name)
        if slot is not None and slot.cells is not None:
            return slot.cells.name
        return slot.name if slot is not None else None

    def _effects(self, node: Any, inner: list[dict[str, str | None]]) -> Effects:
        """`inner` are the scopes of a function that is being summarised, outermost first."""
        found = Effects()
        if isinstance(node, c_ast.ID):
            if (key := self._key(node.name, inner)) is not None:
                found.reads.add(key)
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
            for argument in node.args.exprs if node.args else ():
                found.add(self._effects(argument, inner), sequenced=True)
                if isinstance(argument, c_ast.ID):
                    self._given_away(found, argument.name, inner)
            name = node.name.name if isinstance(node.name, c_ast.ID) else ""
            found.call(self._summary(name))
        else:
            found.fails |= isinstance(node, c_ast.ArrayRef)  # the index may be out of bounds
            self._statement_effects(node, inner, found)
        return found

    def _given_away(self, found: Effects, name: str, inner: list[dict[str, str | None]]) -> None:
        """An argument that is an array: the function may read and change its cells."""
        slot = None if any(name in scope for scope in inner) else self.lookup(name)
        if slot is not None and slot.cells is not None:
            found.called_reads.add(slot.cells.name)
            found.called_writes.add(slot.cells.name)
            found.fails = True

    def _write(self, found: Effects, node: Any, inner: list[dict[str, str | None]]) -> None:
        base = _base(node)
        key = self._key(base, inner) if base is not None else None
        if key is not None:
            found.writes.add(key)
            found.loose.add(key)

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
            found = self._effects(self.functions[name].body, [self._parameters(name)])
        elif name in MODELLED or is_input(name):
            found.fails = name in _FAILING
            found.ends = name in _ENDING
        else:
            found.called_writes.add(_ANYTHING)
            found.ends = name in self.noreturn
        self._summaries[name] = found
        return found

    def _recursive_summary(self, name: str) -> Effects:
        """Of functions that call each other: what any of them does, any may do; and it may go on
        for ever, as a loop may."""
        together = Effects(ends=True)
        for other in self.recursive[name]:
            self._summaries[other] = together
        for other in self.recursive[name]:
            together.add(self._effects(self.functions[other].body, [self._parameters(other)]))
        return together

    def _parameters(self, name: str) -> dict[str, str | None]:
        arguments = self.functions[name].decl.type.args
        names = (getattr(p, "name", None) for p in (arguments.params if arguments else ()))
        return {parameter: None for parameter in names if parameter}

    def _statement_effects(
        self, node: Any, inner: list[dict[str, str | None]], found: Effects
    ) -> None:
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


def _base(node: Any) -> str | None:
    """The name of the variable or array that an assignment changes."""
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return node.name if isinstance(node, c_ast.ID) else None


def sound(op: str, right: Any) -> bool:
    """Is the right operand a constant with which the operator cannot fail?"""
    if not isinstance(right, c_ast.Constant) or not right.value.isdigit():
        return False
    if op in ("/", "%"):
        return right.value.strip("0") != ""
    return right.value == "0" or (right.value[0] != "0" and int(right.value) < 31)
