"""The invariants of Horn clauses as SMT-LIB defines a model: a definition of each predicate."""

from __future__ import annotations

from ..._errors import InputError
from .._program import Program
from ..system import Cells, Cut
from ..system.terms import Term, add, collected, smtlib, sub, substitute, symbol, var, variables
from ..verdict import Outcome, Verdict

_BOOL = (0, 1)  # the range that a Bool has as an integer; an Int of these files has none
# Of a memory the cells from a place on, so many of them.
_SUM = (
    "(define-fun-rec {0} ((a (Array Int Int)) (p Int) (n Int)) Int "
    "(ite (<= n 0) 0 (+ ({0} a p (- n 1)) (select a (+ p (- n 1))))))"
)


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
    cuts = program.system.cuts
    names = {cut.name for cut in cuts}
    total = "sum-of-cells"
    while total in names:
        total += "'"
    total = symbol(total)
    definitions = [_definition(cut, f, total) for cut, f in zip(cuts, formulas, strict=True)]
    if any(f"({total} " in text for text in definitions):
        definitions.insert(0, _SUM.format(total))
    return "\n".join(definitions) + "\n"


def _definition(cut: Cut, formula: Term, total: str) -> str:
    cells, held = cut.cells, {bank.name: bank for bank in cut.arrays}
    about = set(cells.names) if cells is not None else set[str]()
    sorts = dict.fromkeys(held, "(Array Int Int)")
    flags = []
    for name, range_ in zip(cut.variables, cut.ranges, strict=True):
        if name not in about:
            sorts[name] = "Bool" if range_ == _BOOL else "Int"
            if range_ == _BOOL:  # which is 0 or 1 within
                flags.append(f"({symbol(name)} (ite {symbol(name)} 1 0))")
    parameters = " ".join(
        f"({symbol(name)} {sorts[name]})" for name in cut.formals or cut.variables
    )
    text = smtlib(formula) if cells is None else _of_cells(cut, cells, formula, total)
    if flags:
        text = f"(let ({' '.join(flags)}) {text})"
    return f"(define-fun {symbol(cut.name)} ({parameters}) Bool {text})"


def _of_cells(cut: Cut, cells: Cells, formula: Term, total: str) -> str:
    """What holds of the state, and what holds at every index."""
    values = {name: (array, var(cells.at), "cell") for array, name in cells.of.items()}
    values |= {extra.name: (extra.array, extra.index, extra.kind) for extra in cells.more}
    bases = {bank.name: bank.base for bank in cut.arrays}

    def bound(part: Term, first: str | None = None) -> str:
        """With what it says of cells; the place is counted from the array's beginning, or as an
        array that is counted from `first` has it."""
        here = {} if first is None else {cells.at: sub(var(cells.at), var(first))}
        lets = []
        for name in sorted(variables(part) & values.keys()):
            array, index, kind = values[name]
            base, index = bases[array], substitute(index, here)
            if kind == "sum":
                start = symbol(base) if base is not None else "0"
                lets.append(f"({symbol(name)} ({total} {symbol(array)} {start} {smtlib(index)}))")
            else:
                place = index if base is None else collected(add(var(base), index))
                lets.append(f"({symbol(name)} (select {symbol(array)} {smtlib(place)}))")
        text = smtlib(substitute(part, here))
        return f"(let ({' '.join(lets)}) {text})" if lets else text

    parts = formula.args if formula.op == "and" else (formula,)
    found = []
    for part in parts:
        used = variables(part)
        if not cells.local & used:
            found.append(bound(part))
            continue
        # Said once for each array, as that has its cells: solvers look for these.
        firsts = {bases[array]: None for array, name in cells.of.items() if name in used}
        for first in firsts or (None,):
            found.append(f"(forall (({symbol(cells.at)} Int)) {bound(part, first)})")
    return f"(and {' '.join(found)})" if len(found) > 1 else found[0]
