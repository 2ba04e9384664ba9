"""Terms as Z3 expressions in a given context (there is no global solver state here)."""

from __future__ import annotations

import gc
from typing import Any

import z3

from ._build import Builder
from ._floats import NAN, OPERATIONS, TRUNCATED, expect
from ._node import Term, postorder

_SORTS = {32: (8, 24), 64: (11, 53)}
_MOST_FACTORS = 1000  # of a product of products


class _Context(z3.Context):
    """A context that is there: where Z3's memory is at its limit it gives none, and Z3's own class
    would go on with that and end the process."""

    def __init__(self) -> None:
        self.owner = False
        settings = z3.Z3_mk_config()
        made = z3.Z3_mk_context_rc(settings)
        z3.Z3_del_config(settings)
        if not made:
            raise z3.Z3Exception("out of memory")
        self.ctx, self.owner = made, True
        self.eh = z3.Z3_set_error_handler(made, z3.z3.z3_error_handler)
        z3.Z3_set_ast_print_mode(made, z3.Z3_PRINT_SMTLIB2_COMPLIANT)


def new_context() -> z3.Context:
    """A context of its own; raises `Z3Exception` where there is no memory for it."""
    try:
        return _Context()
    except z3.Z3Exception:
        gc.collect()  # what old contexts hold may be in circles
        return _Context()


class Translator:
    """Translates terms into one context; shared nodes are translated once."""

    def __init__(self, context: z3.Context):
        self.context = context
        self.build = build = Builder(context)
        self._made = {
            "+": build.total, "*": build.product,
            "<=": build.at_most, "<": build.below, "=": build.equal,
            "not": build.negation, "and": build.conjunction, "or": build.disjunction,
        }  # fmt: skip
        self._done: dict[int, Any] = {}
        self._kept: list[Term] = []
        self._constants: dict[str, tuple[Any, int | None]] = {}  # with their formats
        self._arrays: dict[str, Any] = {}
        self._factors: dict[int, int] = {}  # of the nodes that are products

    def constant(self, name: str, bits: int | None = None) -> Any:
        """A variable, which has one format wherever it is asked for."""
        found, known = self._constants.get(name, (None, bits))
        if known != bits:
            raise AssertionError(f"the variable '{name}' has the format {known}, not {bits}")
        if found is None:
            plain = bits is None
            found = self.build.variable(name) if plain else z3.Const(name, self._sort(bits))
            self._constants[name] = found, bits
        return found

    def array(self, name: str) -> Any:
        found = self._arrays.get(name)
        if found is None:
            sort = z3.IntSort(self.context)
            found = self._arrays[name] = z3.Array(name, sort, sort)
        return found

    def __call__(self, term: Term) -> Any:
        if id(term) in self._done:
            return self._done[id(term)]
        for node in postorder(term):
            if id(node) not in self._done:
                if node.op == "*":
                    self._count(node)
                self._done[id(node)] = self._node(node, [self._done[id(a)] for a in node.args])
                self._kept.append(node)  # keeps the identity in use while it is a key
        return self._done[id(term)]

    def _count(self, node: Term) -> None:
        """The solver writes products of products out: 2^40 factors where one is squared 40 times,
        and then hears of no interrupt."""
        count = sum(self._factors.get(id(arg), 1) for arg in node.args)
        if count > _MOST_FACTORS:
            raise z3.Z3Exception(f"a product of more than {_MOST_FACTORS} factors")
        self._factors[id(node)] = count

    def given(self, term: Term, bits: int | None) -> Any:
        """A term that a variable of a format takes as its value."""
        found = self(term)
        expect(term, bits)
        return found if bits is None else self._as(term, bits)

    def _node(self, node: Term, args: list[Any]) -> Any:
        op = node.op
        if op in OPERATIONS:
            return self._operation(op, node)
        for arg in node.args:
            if arg.bits is not None:
                return self._of_keys(node, arg.bits)
        if op == "const":
            if node.boolean:
                return z3.BoolVal(node.leaf, self.context)
            return self.build.integer(node.leaf)
        if op == "var":
            return self.constant(node.leaf, node.bits)
        if op == "array":
            return self.array(node.leaf)
        if op == "select":
            return z3.Select(*args)
        if op == "store":
            return z3.Store(*args)
        if op == "fill":
            return z3.K(z3.IntSort(self.context), args[0])
        if op in self._made:
            return self._made[op](*args)
        if op == "ite":
            return z3.If(args[0], args[1], args[2])
        a, b = args
        if op == "div":
            return a / b
        if op == "mod":
            return a % b
        if op == "tdiv":
            return z3.If(a >= 0, a / b, -((-a) / b))
        return z3.If(a >= 0, a % b, -((-a) % b))

    # ---- floating point, of which terms have the keys

    def _sort(self, bits: int) -> Any:
        return z3.FPSort(*_SORTS[bits], self.context)

    def _of_keys(self, node: Term, bits: int) -> Any:
        """A choice or a comparison of keys."""
        if node.op == "ite":
            yes, no = (self._as(arg, bits) for arg in node.args[1:])
            return z3.If(self._done[id(node.args[0])], yes, no)
        if node.op not in ("=", "<=", "<"):
            raise AssertionError(f"'{node.op}' of keys")
        a, b = (self._as(arg, bits) for arg in node.args)
        if node.op == "=":
            return a == b
        return self._in_order(a, b) if node.op == "<=" else z3.Not(self._in_order(b, a))

    def _operation(self, op: str, node: Term) -> Any:
        if op in ("fof", TRUNCATED):
            raise AssertionError("a system has no conversions of integers left")
        nearest = z3.RNE(self.context)
        args = [self._as(arg, node.leaf) for arg in node.args]
        if op in _ROUNDED:
            return _ROUNDED[op](nearest, *args, ctx=self.context)
        if op in _EXACT:
            return _EXACT[op](*args, ctx=self.context)
        sort = self._sort(64 if op == "fwiden" else 32)
        return z3.fpFPToFP(nearest, args[0], sort, self.context)

    def _in_order(self, a: Any, b: Any) -> Any:
        """Is the key of one at most that of the other?"""
        ctx = self.context
        zeros = z3.And(
            z3.fpIsZero(a, ctx),
            z3.fpIsZero(b, ctx),
            z3.fpIsPositive(a, ctx),
            z3.fpIsNegative(b, ctx),
        )
        below = z3.And(z3.fpLEQ(a, b, ctx), z3.Not(zeros))
        return z3.Or(z3.fpIsNaN(b, ctx), below)

    def _as(self, term: Term, bits: int) -> Any:
        """The translation of a term that is floating point, be it a key that is a number."""
        if term.constant:
            return float_constant(int(term.leaf), bits, self.context)
        expect(term, bits)
        if term.op == "ite" and term.bits is None:
            yes, no = (self._as(arg, bits) for arg in term.args[1:])
            return z3.If(self._done[id(term.args[0])], yes, no)
        return self._done[id(term)]


_ROUNDED = {"f+": z3.fpAdd, "f-": z3.fpSub, "f*": z3.fpMul, "f/": z3.fpDiv}
_EXACT = {
    "fneg": z3.fpNeg, "fabs": z3.fpAbs, "fnan": z3.fpIsNaN, "finf": z3.fpIsInf,
    "f<": z3.fpLT, "f<=": z3.fpLEQ, "f=": z3.fpEQ,
}  # fmt: skip


def float_constant(key: int, bits: int, context: z3.Context) -> Any:
    """The value that has a key, as Z3's."""
    sort = z3.FPSort(*_SORTS[bits], context)
    if key == NAN[bits]:
        return z3.fpNaN(sort)
    raw = key if key >= 0 else (1 << (bits - 1)) | (-1 - key)
    return z3.simplify(z3.fpBVToFP(z3.BitVecVal(raw, bits, context), sort, context))


def sort_text(bits: int | None) -> str:
    """The sort of a variable, in SMT-LIB."""
    return "Int" if bits is None else "(_ FloatingPoint {} {})".format(*_SORTS[bits])


def solver_text(term: Term) -> str:
    """A term in SMT-LIB, with floating point as solvers have it."""
    return Translator(new_context())(term).sexpr()


def model_value(value: Any) -> int:
    """A number, or the key of one, of a model."""
    if z3.is_int_value(value):
        return value.as_long()
    if not z3.is_fp_value(value):
        return 0
    bits = value.ebits() + value.sbits()
    if value.isNaN():
        return NAN[bits]
    numeral: Any = z3.simplify(z3.fpToIEEEBV(value, value.ctx))
    raw = numeral.as_long()
    sign = 1 << (bits - 1)
    return -1 - (raw - sign) if raw >= sign else raw


def said(error: z3.Z3Exception) -> str:
    """What the solver complains of, on one line that is not too long."""
    raw = error.args[0] if error.args else ""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    return " ".join(text.split())[:300]
