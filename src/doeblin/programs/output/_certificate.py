"""Certificates: the invariants and their conditions as SMT-LIB, for any solver to confirm."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import z3

from ..._errors import InputError, Place
from .._program import Program
from ..frontends.c import Unsupported
from ..frontends.smt import Reader, Script, commands
from ..solve import Budget, OutOfTime, obligations, recheck
from ..system import Cut, System
from ..system.terms import (
    Definitions,
    Term,
    formats,
    smtlib,
    solver_text,
    sort_text,
    symbol,
)
from ..verdict import Outcome, Verdict, stated
from ._names import commented

PREFIX = "invariant-of-"
# What a certificate is made of, and what else a solver takes: these read, those passed over.
_READ = frozenset({"declare-const", "declare-fun", "define-fun", "assert", "push", "pop"})
_PASSED = frozenset({"set-logic", "set-info", "set-option", "check-sat", "echo", "exit"})


def certificate(program: Program, verdict: Verdict) -> str:
    """Every condition of the proof as a `check-sat` that must answer `unsat`."""
    if verdict.outcome is not Outcome.SAFE:
        raise InputError(
            f"a certificate needs the verdict SAFE, but {program.file} is {verdict.outcome.value}"
        )
    proved = verdict.proved or program
    lines = [
        f"; A proof that {commented(program.file)} cannot fail.",
        f"; Every check-sat must answer unsat. {stated(verdict)}",
        *(f"; {line}" for line in decided(program, proved)),
        f"; sha256 of the program: {program.digest}",
        f'(set-info :source "doeblin {proved.ints}")',
        "(set-logic ALL)",
        "",
    ]
    formulas = [invariant.formula for invariant in verdict.invariants]
    for cut, formula in zip(proved.system.cuts, formulas, strict=True):
        parameters = " ".join(f"({symbol(t.leaf)} {sort_text(t.bits)})" for t in cut.state())
        lines.append(f"; at {commented(str(cut.place))}")
        name = symbol(PREFIX + cut.name)
        text = solver_text(formula) if proved.system.floating else smtlib(formula)
        lines.append(f"(define-fun {name} ({parameters}) Bool {text})")
    for number, obligation in enumerate(obligations(proved.system, formulas)):
        definitions = Definitions(f"t{number}!")
        whole = obligation.formula
        text = solver_text(whole) if proved.system.floating else definitions.text(whole)
        lines += ["", f"; {commented(obligation.says)}", "(push 1)", "(set-info :status unsat)"]
        for name, bits in sorted(formats(obligation.formula).items()):
            lines.append(f"(declare-const {symbol(name)} {sort_text(bits)})")
        lines += [*definitions.lines, f"(assert {text})", "(check-sat)", "(pop 1)"]
    return "\n".join(lines) + "\n"


def decided(program: Program, proved: Program) -> list[str]:
    """What no condition of a proof is about, as sentences: failures that the reader excluded by
    folding constants."""
    remarks = (program if proved.ints == "bounded" else proved).remarks
    if remarks is None or proved.graph is None:
        return []
    every = {**remarks.properties, **remarks.undefined}
    folded = sum(place not in proved.system.open for place in every)
    if not folded:
        return []
    which = "Nothing is left to check" if folded == len(every) else "Not all is left to check"
    were = "was" if folded == 1 else "were"
    return [
        f"{which}: {folded} of {len(every)} possible failures {were} excluded while the program "
        "was read, by folding constants.",
        "No solver can confirm these; `doeblin check` reads the program again.",
    ]


def check_certificate(
    program: Program, text: str, *, file: str = "<certificate>", timeout: float = 60.0
) -> str | None:
    """Re-check a proof without searching: None if it holds, else what does not.

    Only the invariants are taken from the certificate; the conditions are made anew from the
    program, so a certificate for another program cannot pass. Those written in the certificate
    must be SMT-LIB, as another solver is to confirm them, but are not asked.
    """
    if program.unsupported:
        return program.unsupported
    try:
        return _checked(program, text, file, timeout)
    except Unsupported as reason:
        return str(reason)
    except OutOfTime:
        return f"time limit of {timeout:g} s reached"


def _checked(program: Program, text: str, file: str, timeout: float) -> str | None:
    _legible(text, file)
    found = _invariants(text, file)
    system = _conditions(program, found)
    terms = []
    for cut in system.cuts:
        if cut.name not in found:
            raise InputError(
                f"there is no invariant of '{cut.name}' ({cut.place}); is this certificate for "
                f"{program.file}?",
                place=Place(file),
            )
        terms.append(_read(*found[cut.name], cut, file))
    with Budget(timeout) as budget:
        return recheck(system, terms, budget)


def count_conditions(program: Program, text: str) -> int:
    """How many conditions a certificate is checked by."""
    return len(_conditions(program, _invariants(text, "<certificate>")).clauses)


def _conditions(program: Program, found: Collection[str]) -> System:
    """The clauses that a proof with invariants of these names is about."""
    if not found and program.resolved is not None:  # there are no loops
        return program.resolved.system
    return program.system


def _legible(text: str, file: str) -> None:
    """Refuses what no solver reads without an error: sorts that do not fit, unknown names."""
    script = Script(text, file)
    for name, command in commands(text, file):
        if name in _READ:
            script.take(script.part(command), command)
        elif name not in _PASSED:
            raise Unsupported(f"the command '{name}' in a certificate", command.place)


def _invariants(text: str, file: str) -> dict[str, tuple[int, Any]]:
    """The invariants: how many variables each has, and the formula for all their values."""
    script = Script(text, file)
    found: dict[str, tuple[int, Any]] = {}
    for name, command in commands(text, file):
        if name != "define-fun" or len(command) != 5 or not str(command[1]).startswith(PREFIX):
            continue
        variables, body = script.part(command[2]), script.part(command[4])
        closed = f"(forall {variables} {body})" if len(command[2]) else body
        formula = script.take(f"(assert {closed})", command)[0]
        found[script.name(command).removeprefix(PREFIX)] = (len(command[2]), formula)
    return found


def _read(count: int, formula: Any, cut: Cut, file: str) -> Term:
    """The invariant of a cut point, in the program's own variables."""
    place = Place(file)
    if count != len(cut.variables):
        raise InputError(
            f"the invariant of '{cut.name}' has {count} variables, the program has "
            f"{len(cut.variables)} there",
            place=place,
        )
    reader = Reader(place, floats=True)
    constants = [z3.FreshConst(formula.var_sort(number)) for number in range(count)]
    for constant, own in zip(constants, cut.state(), strict=True):
        wanted = sort_text(own.bits)
        if constant.sort().sexpr() != wanted:
            said = f"'{own.leaf}' is no {wanted} in the invariant of '{cut.name}'"
            raise InputError(said, place=place)
        reader.bind(constant, own)
    return reader(z3.substitute_vars(formula.body(), *reversed(constants)) if count else formula)
