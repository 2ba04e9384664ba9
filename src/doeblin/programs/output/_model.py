"""The invariants of Horn clauses as SMT-LIB defines a model: a definition of each predicate."""

from __future__ import annotations

from ..._errors import InputError
from .._program import Program
from ..frontends.smt import in_order
from ..system import Cells, Clause, Cut, System
from ..system.terms import (
    Term,
    add,
    array,
    collected,
    compare,
    conj,
    disj,
    postorder,
    select,
    smtlib,
    store,
    sub,
    substitute,
    symbol,
    var,
    variables,
)
from ..verdict import Outcome, Verdict

_CELLS = "(Array Int Int)"
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
    if cuts and not formulas and program.given is not None:  # there are no loops
        order = in_order(program.given) or []
        return "\n".join(_by_clauses(program.given, cut) for cut in order) + "\n"
    names = {cut.name for cut in cuts}
    total = "sum-of-cells"
    while total in names:
        total += "'"
    total = symbol(total)
    definitions = [_definition(cut, f, total) for cut, f in zip(cuts, formulas, strict=True)]
    if any(f"({total} " in text for text in definitions):
        definitions.insert(0, _SUM.format(total))
    return "\n".join(definitions) + "\n"


def _by_clauses(system: System, number: int) -> str:
    """A predicate as what its clauses derive."""
    cut = system.cuts[number]
    sorts = _sorts(cut)
    parameters = " ".join(f"({symbol(name)} {sort})" for name, sort in sorts.items())
    found = [_derived(system, cut, c) for c in system.clauses if c.target == number]
    text = f"(or {' '.join(found)})" if len(found) > 1 else next(iter(found), "false")
    flags = [name for name, sort in sorts.items() if sort == "Bool"]
    if flags:
        lets = " ".join(f"({symbol(name)} (ite {symbol(name)} 1 0))" for name in flags)
        text = f"(let ({lets}) {text})"
    return f"(define-fun {symbol(cut.name)} ({parameters}) Bool {text})"


def _sorts(cut: Cut) -> dict[str, str]:
    """Of a predicate's arguments, in their order."""
    ranges = dict(zip(cut.variables, cut.ranges, strict=True))
    found = {name: "Bool" if range_ == _BOOL else "Int" for name, range_ in ranges.items()}
    found |= {bank.name: _CELLS for bank in cut.arrays}
    return {name: found[name] for name in cut.formals or cut.variables}


def _derived(system: System, cut: Cut, clause: Clause) -> str:
    """That a clause concludes it, for some values of what is not an argument."""
    numbers = [*clause.names(), *(name for p in clause.premises for name in p.names)]
    held = [bank.name for bank in clause.banks]
    held += [name for premise in clause.premises for name in premise.arrays]
    state: list[Term] = [*map(var, cut.variables), *(array(bank.name) for bank in cut.arrays)]
    names: dict[str, Term] = {}
    pairs = []
    for formal, end in zip(state, (*clause.args, *clause.arrays), strict=True):
        if end.op in ("var", "array") and end.leaf not in names:
            names[end.leaf] = formal
        else:
            pairs.append((formal, end))
    bound = {name: var(f"{name}'") for name in numbers if name not in names}
    names |= bound
    open_ = [name for name in held if name not in names]
    changes: list[tuple[Term, Term, Term]] = []
    for formal, end in list(pairs):
        found = _undone(formal, end, open_, names)
        if found is not None:
            root, names[root], olds, changed = found
            open_.remove(root)
            pairs.remove((formal, end))
            bound |= olds
            changes += changed
    bound |= {name: array(f"{name}'") for name in open_}
    names |= {name: bound[name] for name in open_}
    terms = [substitute(clause.constraint, names)]
    terms += [compare("=", formal, substitute(end, names)) for formal, end in pairs]
    terms += [disj((known, compare("=", cell, substitute(v, names)))) for known, cell, v in changes]
    calls = []
    for premise in clause.premises:
        other = system.cuts[premise.cut]
        called = (*other.variables, *(bank.name for bank in other.arrays))
        values = dict(zip(called, (*premise.names, *premise.arrays), strict=True))
        terms.append(substitute(system.at(premise, other.facts()), names))
        args = [(names[values[name]], sort) for name, sort in _sorts(other).items()]
        calls.append((other.name, args))
    used = variables(*terms, *(term for _, args in calls for term, _ in args))
    texts = [smtlib(conj(terms)), *(_called(name, args) for name, args in calls)]
    binders = " ".join(
        f"({symbol(term.leaf)} {_CELLS if term.op == 'array' else 'Int'})"
        for term in bound.values()
        if term.leaf in used
    )
    text = f"(and {' '.join(texts)})" if len(texts) > 1 else texts[0]
    return f"(exists ({binders}) {text})" if binders else text


_Undone = tuple[str, Term, dict[str, Term], list[tuple[Term, Term, Term]]]


def _undone(formal: Term, end: Term, roots: list[str], names: dict[str, Term]) -> _Undone | None:
    """Where an array is another with changes, that one: with some old values in those places. And
    what is there now, unless a later change (the condition) is in the same place."""
    changes = []
    while end.op == "store":
        end, index, value = end.args
        if any(node.op == "select" for node in postorder(index)):
            return None
        changes.append((substitute(index, names), value))
    if end.op != "array" or end.leaf not in roots:
        return None
    before, olds, found = formal, {}, []
    for number, (index, value) in enumerate(changes):
        olds[f"{end.leaf} {number}"] = old = var(f"{end.leaf}'{number}")
        before = store(before, index, old)
        later = disj(compare("=", index, other) for other, _ in changes[:number])
        found.append((later, select(formal, index), value))
    return end.leaf, before, olds, found


def _called(name: str, args: list[tuple[Term, str]]) -> str:
    """A predicate of these terms; a Bool is a number within."""
    texts = [f"(= {smtlib(t)} 1)" if sort == "Bool" else smtlib(t) for t, sort in args]
    return f"({symbol(name)} {' '.join(texts)})" if texts else symbol(name)


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
