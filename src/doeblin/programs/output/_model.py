"""The invariants of Horn clauses as SMT-LIB defines a model: a definition of each predicate."""

from __future__ import annotations

from ..._errors import InputError
from .._program import Program
from ..system import Cut
from ..system.terms import Term, smtlib, symbol
from ..verdict import Outcome, Verdict

_BOOL = (0, 1)  # the range that a Bool has as an integer; an Int of these files has none


def model(program: Program, verdict: Verdict) -> str:
    """A `define-fun` for every predicate, with the sorts that the file declares.

    Put in place of the declarations, they make every assertion of the file true.
    """
    if verdict.outcome is not Outcome.SAFE:
        raise InputError(
            f"a model needs the verdict SAFE, but {program.file} is {verdict.outcome.value}"
        )
    if program.language == "c":
        raise InputError("a model is of Horn clauses (.smt2, .sl); --certificate is for C")
    formulas = [invariant.formula for invariant in verdict.invariants]
    pairs = zip(program.system.cuts, formulas, strict=True)
    return "\n".join(_definition(cut, formula) for cut, formula in pairs) + "\n"


def _definition(cut: Cut, formula: Term) -> str:
    parameters, bound = [], []
    for name, range_ in zip(map(symbol, cut.variables), cut.ranges, strict=True):
        boolean = range_ == _BOOL
        parameters.append(f"({name} {'Bool' if boolean else 'Int'})")
        if boolean:  # which is 0 or 1 within
            bound.append(f"({name} (ite {name} 1 0))")
    text = smtlib(formula)
    if bound:
        text = f"(let ({' '.join(bound)}) {text})"
    return f"(define-fun {symbol(cut.name)} ({' '.join(parameters)}) Bool {text})"
