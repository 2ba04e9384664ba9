"""Clauses in which products and divisions by variables may be anything: linear, and quick to ask.

What holds there holds in the program, which allows less.
"""

from __future__ import annotations

from dataclasses import replace

from ..system import Input, System
from ..system.terms import DIVISIONS, Term, fold, rebuild, var, variables


def abstracted(term: Term) -> Term:
    """The term with a variable for each product, the same for the same."""

    def combine(node: Term, args: list[Term]) -> Term:
        if node.op == "*" and not any(arg.constant for arg in args):
            return _anything(rebuild(node, sorted(args, key=repr)))
        if node.op in DIVISIONS and not args[1].constant:
            return _anything(rebuild(node, args))
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        return rebuild(node, args)

    return fold(term, combine)


def _anything(node: Term) -> Term:
    return var("#" + repr(node).replace("|", "'"))


def abstract_system(system: System) -> System:
    """The steps of a system, abstracted; nothing fails in it."""
    clauses = []
    for clause in system.clauses:
        if clause.target is None:
            continue
        constraint = abstracted(clause.constraint)
        args = tuple(map(abstracted, clause.args))
        made = sorted(name for name in variables(constraint, *args) if name.startswith("#"))
        inputs = clause.inputs + tuple(Input(name) for name in made)
        clauses.append(replace(clause, constraint=constraint, args=args, inputs=inputs))
    return System(system.cuts, tuple(clauses))
