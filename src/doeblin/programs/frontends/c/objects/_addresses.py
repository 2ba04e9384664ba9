"""Expressions that point, evaluated; and pointers that are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from ....._errors import InputError
from ....system.terms import ONE, ZERO, Term, add, compare, conj, const, disj, ite, mul, negate, var
from .._emitter import Slot, Value
from .._static import COMPARISONS, STEPS
from ..types import ELSEWHERE, INT, LONG, NOWHERE, NULL, NUMBERS, Address, Key, layout
from ._designators import Shape, shape
from ._lvalues import Choice, Located
from ._pointers import Pointers

_ADDING = frozenset({"+", "-"})


class Addresses(Pointers):
    """The values of pointers."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.used: set[int] = set()  # calls whose value is used

    def condition(self, node: Any, yes: int, no: int) -> None:
        raise AssertionError("given by Expressions")

    def effects(self, node: Any) -> None:
        raise AssertionError("given by Expressions")

    def _funccall(self, node: Any) -> Value | None:
        raise AssertionError("given by Calls")

    def address(self, node: Any) -> Address:
        """The value of an expression that points."""
        if self.element_of(node) is None and self.is_null(node):
            return Address(None, frozenset({NULL}), const(0), ZERO)
        method: Callable[[Any], Address] | None
        method = getattr(self, f"_address_of_{type(node).__name__.lower()}", None)
        if method is None or self.element_of(node) is None:
            raise self.unsupported("pointers", node)
        return method(node)

    def returned_address(self, node: Any) -> Address:
        """The same of what a function returns, which may be a text."""
        known = self.element_of(node) is not None or self.is_null(node)
        if known or not self.harmless(node):
            return self.address(node)
        return Address(None, frozenset({ELSEWHERE}), const(NUMBERS[ELSEWHERE]), ZERO)

    def harmless(self, node: Any) -> bool:
        raise AssertionError("given by Expressions")

    def _address_of_id(self, node: Any) -> Address:
        slot = self.lookup(node.name)
        assert slot is not None
        if slot.pointer is not None:
            return self.value_of(slot.pointer)
        return self._beginning(slot, slot.cells.const if slot.cells else slot.const, node)

    def _beginning(self, slot: Slot, fixed: bool, node: Any) -> Address:
        found = shape(slot)
        if slot.key is None or slot.key not in self.objects or found is None:
            raise self.unsupported("pointers", node)
        return Address(found.kind, frozenset({slot.key}), const(self.number(slot.key)), ZERO, fixed)

    def _address_of_arrayref(self, node: Any) -> Address:
        raise self.unsupported("a row of an array", node)

    def _address_of_unaryop(self, node: Any) -> Address:
        if node.op in STEPS:
            return self._step_pointer(node)
        inner = node.expr
        if isinstance(inner, c_ast.ID):
            slot = self.lookup(inner.name)
            assert slot is not None
            return self._beginning(slot, slot.const, node)
        if isinstance(inner, c_ast.UnaryOp):  # &*p is p
            return self.address(inner.expr)
        if isinstance(inner, c_ast.StructRef):
            return self._inside(inner, node)
        if not isinstance(inner, c_ast.ArrayRef) or self.element_of(inner.name) is None:
            raise self.unsupported("pointers", node)
        return self._sum(inner.name, inner.subscript, 1, node)

    def _address_of_structref(self, node: Any) -> Address:
        return self._inside(node, node)

    def _inside(self, designator: Any, node: Any) -> Address:
        """Of a member of a structure that is known for certain."""
        found = self.locate(designator)
        if not found.choices:  # nothing is known yet of where the structure is
            nowhere = const(NUMBERS[NOWHERE])
            return Address(found.shape.kind, frozenset(), nowhere, ZERO, found.const)
        if len(found.choices) != 1 or found.choices[0].indices:
            raise self.unsupported("a pointer into one of several structures", node)
        return self._beginning(found.choices[0].slot, found.const, node)

    def called(self, node: Any, found: Shape) -> Located:
        self.used.add(id(node))
        self._funccall(node)
        slot, self.returned = self.returned, None
        if slot is None or slot.fields is None:
            raise self.unsupported("structures", node)
        return Located((Choice(None, slot),), found)

    def _address_of_binaryop(self, node: Any) -> Address:
        if self.element_of(node.left) is not None:
            return self._sum(node.left, node.right, 1 if node.op == "+" else -1, node)
        return self._sum(node.right, node.left, 1, node)

    def _sum(self, base: Any, number: Any, sign: int, node: Any) -> Address:
        self.check_operands([base, number], node)
        start = self._kept_address(base, [number])
        return self.moved(start, mul(const(sign), self.rvalue(number).integer()), node)

    def _address_of_ternaryop(self, node: Any) -> Address:
        element = self.element_of(node)
        assert element is not None
        slot = self.pointer(node, element, self.key(node), self.chain())
        yes, no, after = (self.graph.block() for _ in range(3))
        self.condition(node.cond, yes, no)
        const = False
        for block, side in ((yes, node.iftrue), (no, node.iffalse)):
            self.start(block)
            found = self.address(side)
            const |= found.const
            self.set_pointer(slot, found, side)
            self.jump(after)
        self.start(after)
        assert slot.pointer is not None
        return self.value_of(slot.pointer)._replace(const=const)

    def _address_of_assignment(self, node: Any) -> Address:
        slot = self._changed_pointer(node.lvalue)
        self.check_assignment(node)
        if node.op == "=":
            found = self.address(node.rvalue)
        elif node.op[:-1] in _ADDING:
            start = self._kept_address(node.lvalue, [node.rvalue])
            number = self.rvalue(node.rvalue).integer()
            found = self.moved(start, mul(const(1 if node.op == "+=" else -1), number), node)
        else:
            raise InputError("a pointer cannot be changed so", place=self.place(node))
        self.set_pointer(slot, found, node)
        assert slot.pointer is not None
        return self.value_of(slot.pointer)

    def _step_pointer(self, node: Any) -> Address:
        slot = self._changed_pointer(node.expr)
        assert slot.pointer is not None
        old = self.value_of(slot.pointer)
        if node.op.startswith("p"):
            old = self.kept(old)
        new = self.moved(self.value_of(slot.pointer), const(STEPS[node.op]), node)
        self.set_pointer(slot, new, node)
        return old if node.op.startswith("p") else self.value_of(slot.pointer)

    def _changed_pointer(self, node: Any) -> Slot:
        slot = self.lookup(node.name) if isinstance(node, c_ast.ID) else None
        if slot is None or slot.pointer is None:
            raise self.unsupported("pointers", node)
        if slot.pointer.fixed:
            said = f"'{slot.pointer.shown}' is const, and is changed"
            raise InputError(said, place=self.place(node))
        return slot

    def _address_of_exprlist(self, node: Any) -> Address:
        for item in node.exprs[:-1]:
            self.effects(item)
        return self.address(node.exprs[-1])

    def _address_of_cast(self, node: Any) -> Address:
        found = self.address(node.expr)
        element = self.element_of(node)
        if found.element is not None and found.element != element:
            raise self.unsupported("a pointer to another type", node)
        const = self._to_const(node.to_type.type)
        if found.const and not const:
            raise self.unsupported("a pointer that forgets that something is const", node)
        return found._replace(const=const)

    def _address_of_funccall(self, node: Any) -> Address:
        self.used.add(id(node))
        self._funccall(node)
        slot, self.returned = self.returned, None
        if slot is None or slot.pointer is None:
            raise self.unsupported("pointers", node)
        return self.value_of(slot.pointer)

    # ---- comparisons

    def compared(self, node: Any) -> Value:
        """A comparison or difference of two pointers."""
        self.check_operands([node.left, node.right], node)
        left = self._kept_address(node.left, [node.right])
        right = self.address(node.right)
        if node.op not in COMPARISONS and node.op != "-":
            raise InputError(f"pointers have no '{node.op}'", place=self.place(node))
        kinds = {side.element for side in (left, right)} - {None}
        if len(kinds) > 1:
            raise self.unsupported("a pointer to another type", node)
        for side in (left, right):
            self.real(side._replace(targets=side.targets - {NULL}), node, "used")
        if node.op in ("==", "!="):
            same = self._same(left, right, node)
            return Value(same if node.op == "==" else negate(same), INT)
        done = "subtracted" if node.op == "-" else "compared"
        for side in (left, right):
            self.real(side, node, done)
        said = f"undefined behaviour: pointers into different objects are {done}"
        same = compare("=", left.to, right.to)
        if node.op == "-":
            self.require(same, said, self.place(node))
            return Value(add(left.at, mul(const(-1), right.at)), LONG)
        # Later members of a structure compare greater (C11 6.5.8p5); an end of one is unclear.
        truths, known, unclear = [conj((same, compare(node.op, left.at, right.at)))], [same], []
        for one in self.objects_in(left):
            for other in self.objects_in(right):
                if (before := self._before(one, other)) is None:
                    continue
                here = [compare("=", left.to, const(self.number(one)))]
                here += [compare("=", right.to, const(self.number(other)))]
                known.append(conj(here))
                if before == (node.op in ("<", "<=")):
                    truths.append(conj(here))
                for side, key in ((left, one), (right, other)):
                    length = self.extent(key, node)
                    size = layout(left.element) if left.element is not None else None
                    if length is None or size is None or size[0] == 0:
                        raise self.unsupported("this comparison of pointers to members", node)
                    unclear.append(conj((*here, compare("=", side.at, length))))
        self.require(disj(known), said, self.place(node))
        return Value(self._unless(disj(unclear), disj(truths), node), INT)

    def _before(self, one: Key, other: Key) -> bool | None:
        """Of two members of a structure: is the first declared before the other? None for objects
        that are no members of one structure."""
        shared = 0
        while shared < min(len(one), len(other)) and one[shared] == other[shared]:
            shared += 1
        whole = self.objects.get(one[:shared])
        if whole is None or whole.fields is None or shared in (len(one), len(other)):
            return None
        names = list(whole.fields)
        return names.index(str(one[shared])) < names.index(str(other[shared]))

    def _same(self, left: Address, right: Address, node: Any) -> Term:
        """Are two pointers equal? The end of an object may be where another begins, or not."""
        same = conj((compare("=", left.to, right.to), compare("=", left.at, right.at)))
        open_: list[Term] = []
        if any(not side.at.constant or side.at.leaf for side in (left, right)):
            for one, other in ((left, right), (right, left)):
                for key in self.objects_in(one):
                    length = self.extent(key, node)
                    if length is None:
                        continue
                    parts = [compare("=", one.to, const(self.number(key)))]
                    parts += [compare("!=", one.to, other.to), compare("=", other.at, ZERO)]
                    parts += [compare("=", one.at, length)]
                    parts += [compare("<", ZERO, other.to)]
                    open_.append(conj(parts))
        return self._unless(disj(open_), same, node)

    def _unless(self, unclear: Term, truth: Term, node: Any) -> Term:
        """The same truth, but either where it is unclear."""
        if unclear.constant and not unclear.leaf:
            return truth
        # In blocks of their own: a run that does not come by knows what it compares.
        name = self.fresh("", INT)
        yes, no, after = (self.graph.block() for _ in range(3))
        self.branch(unclear, yes, no)
        self.start(yes)
        self.havoc(name, INT, self.place(node), origin="rough", within=(0, 1))
        self.jump(after)
        self.start(no)
        self.assign(name, ite(truth, ONE, ZERO))
        self.jump(after)
        self.start(after)
        return compare("=", var(name), ONE)

    def points_somewhere(self, node: Any) -> Term:
        """The truth of a pointer: is it not null?"""
        found = self.address(node)
        self.real(found._replace(targets=found.targets - {NULL}), node, "used")
        return compare("!=", found.to, const(NUMBERS[NULL]))
