"""Terms as Z3 expressions in a given context (there is no global solver state here)."""

from __future__ import annotations

from typing import Any

import z3

from ._node import Term, postorder


class Translator:
    """Translates terms into one context; shared nodes are translated once."""

    def __init__(self, context: z3.Context):
        self.context = context
        self._done: dict[int, Any] = {}
        self._kept: list[Term] = []
        self._constants: dict[str, Any] = {}
        self._arrays: dict[str, Any] = {}

    def constant(self, name: str) -> Any:
        found = self._constants.get(name)
        if found is None:
            found = self._constants[name] = z3.Int(name, self.context)
        return found

    def array(self, name: str) -> Any:
        found = self._arrays.get(name)
        if found is None:
            sort = z3.IntSort(self.context)
            found = self._arrays[name] = z3.Array(name, sort, sort)
        return found

    def __call__(self, term: Term) -> Any:
        for node in postorder(term):
            if id(node) not in self._done:
                self._done[id(node)] = self._node(node, [self._done[id(a)] for a in node.args])
                self._kept.append(node)  # keeps the identity in use while it is a key
        return self._done[id(term)]

    def _node(self, node: Term, args: list[Any]) -> Any:
        op, context = node.op, self.context
        if op == "const":
            if node.boolean:
                return z3.BoolVal(node.leaf, context)
            return z3.IntVal(node.leaf, context)
        if op == "var":
            return self.constant(node.leaf)
        if op == "array":
            return self.array(node.leaf)
        if op == "select":
            return z3.Select(*args)
        if op == "store":
            return z3.Store(*args)
        if op == "fill":
            return z3.K(z3.IntSort(context), args[0])
        if op == "+":
            return z3.Sum(args)
        if op == "*":
            return args[0] * args[1]
        if op == "<=":
            return args[0] <= args[1]
        if op == "<":
            return args[0] < args[1]
        if op == "=":
            return args[0] == args[1]
        if op == "not":
            return z3.Not(args[0])
        if op == "and":
            return z3.And(*args)
        if op == "or":
            return z3.Or(*args)
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


def said(error: z3.Z3Exception) -> str:
    """What the solver complains of, on one line that is not too long."""
    raw = error.args[0] if error.args else ""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    return " ".join(text.split())[:300]
