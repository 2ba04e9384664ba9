"""C expressions to terms; side effects become statements, left to right, sequenced as in C."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ...._errors import InputError
from ...system.terms import (
    ONE,
    ZERO,
    Term,
    conj,
    const,
    disj,
    floating,
    ite,
    neg,
    negate,
    sub,
    truth,
)
from ._emitter import Value
from ._library import FLOATING
from ._order import FALLIBLE, sound
from ._static import STEPS
from .objects import Heap
from .tree import is_floating
from .types import INT, ULONG, CType, Opaque, common, float_literal, integer_literal, promote


class Expressions(Heap):
    """Everything that has a value."""

    # ---- purity

    def plain(self, node: Any) -> bool:
        """Has the expression neither side effects nor obligations of its own?"""
        if isinstance(node, c_ast.Constant):
            return True
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            return slot is None or slot.pointer is None
        if isinstance(node, c_ast.StructRef):
            while isinstance(node, c_ast.StructRef) and node.type == ".":
                node = node.name
            return isinstance(node, c_ast.ID)
        if isinstance(node, c_ast.UnaryOp):
            if node.op in ("sizeof", "_Alignof"):
                return True
            return (
                node.op in ("!", "+", "-", "~")
                and self.plain(node.expr)
                and not (self.wrap and node.op == "-")
            )
        if isinstance(node, c_ast.BinaryOp):
            if node.op in FALLIBLE and not sound(node.op, node.right):
                return False
            if self.pointing(node):
                return False
            if node.op == "<<":
                return False  # of a negative value it is undefined
            if self.wrap and node.op in ("+", "-", "*", "/", "%", "<<"):
                return False
            return self.plain(node.left) and self.plain(node.right)
        if isinstance(node, c_ast.Cast):
            return self.plain(node.expr) and not self.truncates(node)
        if isinstance(node, c_ast.GenericSelection):
            return self.plain(self.chosen(node))
        if isinstance(node, c_ast.TernaryOp):
            return all(self.plain(part) for part in (node.cond, node.iftrue, node.iffalse))
        return False

    def truncates(self, node: Any) -> bool:
        """Does a cast make an integer of floating point, which must fit?"""
        if not self.floats:
            return False
        own, kind = self.kind_of(node.expr), self.type(node.to_type)
        return isinstance(own, CType) and own.floating and kind != own

    def harmless(self, node: Any) -> bool:
        """Of an expression whose value is not modelled: does it change no integer variable, give
        no address of one away, and ask nothing of its operands that would have to be checked?"""
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            if slot is None and self._is_function(node.name):
                raise self.unsupported("function pointers", node)
            return slot is None or not (slot.cells or slot.pointer or slot.fields)
        if isinstance(node, c_ast.Cast | c_ast.NamedInitializer):
            return self.harmless(node.expr)
        if isinstance(node, c_ast.InitList):
            return all(map(self.harmless, node.exprs))
        if isinstance(node, c_ast.FuncCall):
            name = node.name.name if isinstance(node.name, c_ast.ID) else ""
            arguments = node.args.exprs if node.args else ()
            return name in ("malloc", "calloc", "alloca") and all(map(self.harmless, arguments))
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            slot = self.lookup(node.expr.name) if isinstance(node.expr, c_ast.ID) else None
            if slot is None or slot.cells or slot.pointer or slot.fields:
                return False
            return isinstance(slot.kind, Opaque)
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":  # of `malloc(n * sizeof(int))`
            sides = (node.left, node.right)
            if any(isinstance(side, c_ast.UnaryOp) and side.op == "sizeof" for side in sides):
                return all(map(self.harmless, sides))
        return isinstance(node, c_ast.Constant) or self.is_constant(node)

    def _is_function(self, name: str) -> bool:
        return name in self.functions or name in self.prototypes

    # ---- values

    def rvalue(self, node: Any) -> Value:
        """The value of an expression of integer type."""
        value = self.evaluate(node)
        if value is None:
            if self.element_of(node) is not None:
                raise self.unsupported("pointers", node)
            raise self.unsupported("the value of a void expression", node)
        return value

    def evaluate(self, node: Any) -> Value | None:
        """As `rvalue`, but a call of a void function has no value, and neither has a pointer."""
        if self.element_of(node) is not None:
            self.address(node)
            return None
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.unsupported(_describe(node), node)
        return method(node)

    def effects(self, node: Any) -> None:
        """Evaluate for the side effects only."""
        if isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--"):
            node = c_ast.UnaryOp(node.op[1:], node.expr, node.coord)
        if isinstance(node, c_ast.Cast) and _is_void(node.to_type):
            node = node.expr
        if isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof"):
            return  # its operand is not evaluated
        if isinstance(node, c_ast.ExprList):
            for item in node.exprs:
                self.effects(item)
        elif isinstance(node, c_ast.TernaryOp):  # its sides may be void
            yes, no, after = (self.graph.block() for _ in range(3))
            self.condition(node.cond, yes, no)
            for block, side in ((yes, node.iftrue), (no, node.iffalse)):
                self.start(block)
                self.effects(side)
                self.jump(after)
            self.start(after)
        elif isinstance(node, c_ast.FuncCall):  # whose value, if any, is not used
            self._funccall(node)
        elif not isinstance(node, c_ast.Constant | c_ast.ID):
            self.evaluate(node)
        elif isinstance(node, c_ast.ID) and self.lookup(node.name) is None:
            self.evaluate(node)  # says that it is not declared

    def condition(self, node: Any, yes: int, no: int) -> None:
        """Leave for `yes` or `no` by the truth of the expression, with short circuits."""
        if not self.plain(node):
            if isinstance(node, c_ast.UnaryOp) and node.op == "!":
                return self.condition(node.expr, no, yes)
            if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
                middle = self.graph.block()
                if node.op == "&&":
                    self.condition(node.left, middle, no)
                else:
                    self.condition(node.left, yes, middle)
                self.start(middle)
                return self.condition(node.right, yes, no)
        return self.branch(self.truth_of(node), yes, no, self.place(node))

    def truth_of(self, node: Any) -> Term:
        """Is the value other than zero? The address of a text, as in `c && "why"`, always is."""
        if isinstance(node, c_ast.Constant) and node.type == "string":
            return truth(True)
        if self.element_of(node) is not None:
            return self.points_somewhere(node)
        return self.rvalue(node).truth()

    def _constant(self, node: Any) -> Value:
        if node.type == "string":
            raise self.unsupported("strings", node)
        if is_floating(node):
            key, kind = float_literal(node.value, self.place(node))
            return Value(const(key), kind)
        value, kind = integer_literal(node.value, self.place(node))
        return Value(const(value), kind)

    def _id(self, node: Any) -> Value:
        slot = self.lookup(node.name)
        if slot is None and self._is_function(node.name):
            raise self.unsupported("function pointers", node)
        if slot is None:
            raise self.undeclared(node)
        if slot.constant is not None:
            return Value(const(slot.constant), INT)
        if isinstance(slot.kind, Opaque) or slot.name is None:
            what = slot.kind.what if isinstance(slot.kind, Opaque) else "this name"
            raise self.unsupported(what, node)
        return Value.of(slot.name, slot.kind)

    def _unaryop(self, node: Any) -> Value:
        op = node.op
        if op in STEPS:
            return self._step(node)
        if op in ("sizeof", "_Alignof"):
            return Value(const(self.measure(node)), ULONG)
        if op == "*":
            self.check_operands(self.operands(node), node)
            return self.fetch(self.locate(node), node)
        if op == "&":
            raise self.unsupported("pointers", node)
        if op == "!":
            return Value(negate(self.truth_of(node.expr)), INT)
        value = self.rvalue(node.expr)
        kind = promote(value.kind)
        value = self.convert(value, kind)
        if op == "+":
            return value
        if op == "-" and kind.floating:
            return Value(floating("fneg", kind.bits, value.term), kind)
        if op == "-":
            return self.arithmetic(neg(value.integer()), kind, self.place(node), op="-")
        if op == "~":
            base = const(-1 if kind.signed else kind.high)
            return Value(sub(base, value.integer()), kind)
        raise self.unsupported(f"the operator '{op}'", node)

    def target(self, node: Any) -> tuple[str, CType]:
        """The variable that an assignment changes."""
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            if slot is None:
                raise self.undeclared(node)
            if isinstance(slot.kind, Opaque):
                raise self.unsupported(slot.kind.what, node)
            if slot.name is None:
                raise InputError(f"'{node.name}' cannot be assigned", place=self.place(node))
            if slot.const:
                raise InputError(f"'{node.name}' is const, and is changed", place=self.place(node))
            return slot.name, slot.kind
        if isinstance(node, c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp):
            raise self.unsupported(_describe(node), node)
        if isinstance(node, c_ast.GenericSelection):
            raise self.unsupported("_Generic in place of a variable", node)
        raise InputError("this cannot be assigned to", place=self.place(node))

    def _step(self, node: Any) -> Value:
        if self.designates(node.expr):
            return self.step_in(node)
        return self.step_variable(*self.target(node.expr), node)

    def _genericselection(self, node: Any) -> Value | None:
        return self.evaluate(self.chosen(node))

    def _assignment(self, node: Any) -> Value | None:
        if (whole := self.structure_of(node.lvalue)) is not None:
            self.assign_structure(node, whole)
            return None
        if self.designates(node.lvalue):
            return self.assign_to(node)
        if self.never_read(node.lvalue):
            if self.harmless(node.rvalue):
                return None
            if self.element_of(node.rvalue) is not None:
                self.address(node.rvalue)
                return None
        name, kind = self.target(node.lvalue)
        self.check_assignment(node)
        value = self.rvalue(node.rvalue)
        if node.op != "=":
            value = self.binary(node.op[:-1], Value.of(name, kind), value, node)
        self.assign(name, self.convert(value, kind).term, self.place(node.lvalue))
        return Value.of(name, kind)

    def _exprlist(self, node: Any) -> Value | None:
        for item in node.exprs[:-1]:
            self.effects(item)
        return self.evaluate(node.exprs[-1])

    def _cast(self, node: Any) -> Value | None:
        kind = self.type(node.to_type)
        if isinstance(kind, Opaque):
            if kind.name == "void":
                self.effects(node.expr)
                return None
            raise self.unsupported(kind.what, node)
        call = node.expr
        if isinstance(call, c_ast.FuncCall) and getattr(call.name, "name", None) in FLOATING:
            return self.rounded(call, kind)
        return self.convert(self.rvalue(node.expr), kind)

    def rounded(self, call: Any, kind: CType) -> Value:
        raise AssertionError("given by Calls")

    def _ternaryop(self, node: Any) -> Value:
        if self.plain(node.iftrue) and self.plain(node.iffalse):
            condition = self.truth_of(node.cond)
            yes, no = self.rvalue(node.iftrue), self.rvalue(node.iffalse)
            kind = common(yes.kind, no.kind)
            first, second = self.convert(yes, kind), self.convert(no, kind)
            return Value(ite(condition, first.number(), second.number()), kind)
        return self._choice(node.cond, node.iftrue, node.iffalse)

    def _choice(self, cond: Any, yes_node: Any, no_node: Any) -> Value:
        yes, no, after = (self.graph.block() for _ in range(3))
        self.condition(cond, yes, no)
        ends: list[tuple[int, Value]] = []
        for block, node in ((yes, yes_node), (no, no_node)):
            self.start(block)
            value = self.rvalue(node)
            ends.append((self.current, value))
        kind = common(ends[0][1].kind, ends[1][1].kind)
        name = self.fresh("", kind)
        for block, value in ends:
            self.start(block)
            self.assign(name, self.convert(value, kind).term)
            self.jump(after)
        self.start(after)
        return Value.of(name, kind)

    def _binaryop(self, node: Any) -> Value:
        if node.op in ("&&", "||"):
            return self._logical(node)
        if self.pointing(node):
            return self.compared(node)
        reads = self.quiet(node.right) and not self.plain(node.right)
        if reads and self.effects_of(node.left).stays:  # which might hide that the other fails
            self.check_operands([node.right, node.left], node)
            right = self.snapshot(self.rvalue(node.right))
            return self.binary(node.op, self.rvalue(node.left), right, node)
        self.check_operands([node.left, node.right], node)
        left = self.rvalue(node.left)
        if not self.plain(node.right):
            left = self.snapshot(left)
        return self.binary(node.op, left, self.rvalue(node.right), node)

    def _logical(self, node: Any) -> Value:
        if self.plain(node.right):
            left, right = self.truth_of(node.left), self.truth_of(node.right)
            return Value(conj((left, right)) if node.op == "&&" else disj((left, right)), INT)
        name = self.fresh("", INT)
        yes, no, after = (self.graph.block() for _ in range(3))
        self.condition(node, yes, no)
        for block, value in ((yes, ONE), (no, ZERO)):
            self.start(block)
            self.assign(name, value)
            self.jump(after)
        self.start(after)
        return Value.of(name, INT)


def _is_void(node: Any) -> bool:
    kind = getattr(getattr(node, "type", None), "type", None)
    return isinstance(kind, c_ast.IdentifierType) and kind.names == ["void"]


def _describe(node: Any) -> str:
    names = {
        "ArrayRef": "arrays",
        "StructRef": "structures",
        "UnaryOp": "pointers",
        "InitList": "initialiser lists",
        "CompoundLiteral": "compound literals",
    }
    return names.get(type(node).__name__, f"'{type(node).__name__}' expressions")
