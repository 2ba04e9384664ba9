"""Z3's nodes by the calls that make them.

The operators of its Python interface look at the sorts of their operands, convert them and look
again: several times the work of making a node. Terms have their sorts before they come here, and
Z3 itself looks once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

_SMALL = range(-(1 << 63), 1 << 63)  # what a call takes as a number, not as digits


class Builder:
    """Makes nodes of one context, whose operands must be of it."""

    def __init__(self, context: z3.Context):
        self.context = context
        self._ref = context.ref()
        self._sorts = z3.IntSort(context), z3.BoolSort(context)  # keeps them in use
        self._int, self._bool = (sort.ast for sort in self._sorts)

    # ---- leaves

    def integer(self, value: int) -> Any:
        if value not in _SMALL:
            return z3.IntVal(value, self.context)
        return z3.IntNumRef(z3.Z3_mk_int64(self._ref, value, self._int), self.context)

    def variable(self, name: str) -> Any:
        known = z3.Z3_mk_string_symbol(self._ref, name)
        return z3.ArithRef(z3.Z3_mk_const(self._ref, known, self._int), self.context)

    def flag(self, name: str) -> Any:
        known = z3.Z3_mk_string_symbol(self._ref, name)
        return z3.BoolRef(z3.Z3_mk_const(self._ref, known, self._bool), self.context)

    # ---- numbers

    def total(self, *parts: Any) -> Any:
        return z3.ArithRef(z3.Z3_mk_add(self._ref, *_handles(parts)), self.context)

    def product(self, *factors: Any) -> Any:
        return z3.ArithRef(z3.Z3_mk_mul(self._ref, *_handles(factors)), self.context)

    def remainder(self, a: Any, b: Any) -> Any:
        return z3.ArithRef(z3.Z3_mk_mod(self._ref, a.ast, b.ast), self.context)

    # ---- truth

    def at_most(self, a: Any, b: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_le(self._ref, a.ast, b.ast), self.context)

    def at_least(self, a: Any, b: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_ge(self._ref, a.ast, b.ast), self.context)

    def below(self, a: Any, b: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_lt(self._ref, a.ast, b.ast), self.context)

    def equal(self, a: Any, b: Any) -> Any:
        """Of any sort."""
        return z3.BoolRef(z3.Z3_mk_eq(self._ref, a.ast, b.ast), self.context)

    def different(self, a: Any, b: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_distinct(self._ref, *_handles((a, b))), self.context)

    def negation(self, a: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_not(self._ref, a.ast), self.context)

    def implication(self, a: Any, b: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_implies(self._ref, a.ast, b.ast), self.context)

    def conjunction(self, *parts: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_and(self._ref, *_handles(parts)), self.context)

    def disjunction(self, *parts: Any) -> Any:
        return z3.BoolRef(z3.Z3_mk_or(self._ref, *_handles(parts)), self.context)

    # ---- solvers and models

    def hold(self, solver: Any, *formulas: Any) -> None:
        """Assert formulas."""
        for formula in formulas:
            z3.Z3_solver_assert(self._ref, solver.solver, formula.ast)

    def hold_text(self, solver: Any, text: str) -> None:
        """Assert SMT-LIB text: the solver's own parser reads hundreds of formulas in the time that
        calls take for a few."""
        read = z3.parse_smt2_string(text, ctx=self.context)
        for number in range(len(read)):
            formula = z3.Z3_ast_vector_get(self._ref, read.vector, number)
            z3.Z3_solver_assert(self._ref, solver.solver, formula)

    def numbers(self, model: Any, nodes: Iterable[Any]) -> list[int]:
        """What integer nodes are in a model: 0 where it leaves that open."""
        found = (z3.Ast * 1)()
        values = []
        for node in nodes:
            known = z3.Z3_model_eval(self._ref, model.model, node.ast, True, found)
            number = known and z3.Z3_get_ast_kind(self._ref, found[0]) == z3.Z3_NUMERAL_AST
            values.append(int(z3.Z3_get_numeral_string(self._ref, found[0])) if number else 0)
        return values


def _handles(nodes: Sequence[Any]) -> tuple[int, Any]:
    """Nodes as a call takes them: how many, and their handles in a row."""
    return len(nodes), (z3.Ast * len(nodes))(*(node.ast for node in nodes))
