"""C's binary operators on values, with its conversions."""

from __future__ import annotations

from typing import Any

from ....system.terms import ZERO, Term, compare, conj, const, divide, mul, sub
from ....system.terms import add as plus
from .._emitter import SIGNED_OVERFLOW, Value
from .._static import COMPARISONS
from ..text import binary_constant
from ..types import INT, CType, bitwise, common, compared, computed, interval, promote, shifted
from ._arrays import Arrays

_BITS = frozenset({"&", "|", "^"})


class Operators(Arrays):
    """What operators make of values that are there."""

    def binary(self, op: str, left: Value, right: Value, node: Any) -> Value:
        """An operator on two values, with C's conversions."""
        place = self.place(node)
        if op in ("<<", ">>"):
            return self._shift(op, left, right, node)
        kind = common(left.kind, right.kind)
        if kind.floating:
            return self._floating(op, left, right, kind, node)
        a, b = self.convert(left, kind).integer(), self.convert(right, kind).integer()
        if op in COMPARISONS:
            return Value(compare("=" if op == "==" else op, a, b), INT)
        if op == "+":
            return self.arithmetic(plus(a, b), kind, place, op="+")
        if op == "-":
            return self.arithmetic(sub(a, b), kind, place, op="-")
        if op == "*":
            return self.arithmetic(mul(a, b), kind, place, op="*")
        if op in ("/", "%"):
            self.require(compare("!=", b, const(0)), "undefined behaviour: division by zero", place)
            if b.constant and b.leaf == 0:
                return Value(ZERO, kind)
            quotient = divide("tdiv", a, b)
            if self.wrap and kind.signed and not (b.constant and b.leaf != -1):
                self.require(
                    compare("<=", quotient, const(kind.high)),
                    SIGNED_OVERFLOW,
                    place,
                )
            return Value(quotient if op == "/" else divide("trem", a, b), kind)
        if op in _BITS:
            return self._bits(op, a, b, kind)
        raise self.unsupported(f"the operator '{op}'", node)

    def _floating(self, op: str, left: Value, right: Value, kind: CType, node: Any) -> Value:
        a, b = self.convert(left, kind).term, self.convert(right, kind).term
        self.graph.floating = self.graph.floating or self.place(node)
        if op in COMPARISONS:
            return Value(compared(op, a, b, kind), INT)
        found = computed(op, a, b, kind)
        if found is None:
            raise self.unsupported(f"the operator '{op}' of floating point", node)
        return Value(found, kind)

    def _bits(self, op: str, a: Term, b: Term, kind: CType) -> Value:
        if a.constant and b.constant:
            return Value(const(binary_constant(op, a.leaf, b.leaf)), kind)
        return Value(
            bitwise(op, a, b, (self._within_type(a, kind), self._within_type(b, kind))), kind
        )

    def _within_type(self, term: Term, kind: CType) -> tuple[int, int]:
        """Bounds of a term that has no overflow."""

        def known(name: str) -> tuple[int, int]:
            variable = self.graph.variables[name]
            low = kind.low if variable.low is None else variable.low
            return low, kind.high if variable.high is None else variable.high

        return interval(term, known, (kind.low, kind.high))

    def _shift(self, op: str, left: Value, right: Value, node: Any) -> Value:
        kind = promote(left.kind)
        a, b = self.convert(left, kind).integer(), right.integer()
        place = self.place(node)
        inside = conj((compare("<=", ZERO, b), compare("<", b, const(kind.bits))))
        self.require(inside, "undefined behaviour: shift out of range", place)
        if inside.constant and not inside.leaf:
            return Value(ZERO, kind)
        low, high = self._within_type(b, promote(right.kind))
        most = min(max(low, 0), kind.bits - 1), max(0, min(high, kind.bits - 1))
        if op == ">>":
            return Value(shifted(op, a, b, most), kind)
        if kind.signed:
            self.require(
                compare("<=", ZERO, a), "undefined behaviour: shift of a negative value", place
            )
        return self.arithmetic(shifted(op, a, b, most), kind, place, op="*")
