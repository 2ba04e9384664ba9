"""Certificates: the invariants and their conditions as SMT-LIB, for any solver to confirm."""

from __future__ import annotations

import hashlib

from ..._errors import InputError, Place
from .._program import Program
from .._verdict import INTS, Outcome, Verdict
from ..proof import Clock, obligations, recheck
from ..smt._formula import Definitions as Formulas
from ..smt._sexpr import Group, Symbol, parse
from ..terms import Definitions, as_bool, smtlib, symbol, var, variables

PREFIX = "invariant-of-"


def certificate(program: Program, verdict: Verdict) -> str:
    """Every condition of the proof as a `check-sat` that must answer `unsat`."""
    if verdict.outcome is not Outcome.SAFE:
        raise InputError(
            f"a certificate needs the verdict SAFE, but {program.file} is {verdict.outcome.value}"
        )
    digest = hashlib.sha256(program.text.encode("utf-8")).hexdigest()
    lines = [
        f"; A proof that {program.file} cannot fail.",
        f"; Every check-sat must answer unsat. Integers: {INTS[verdict.ints]}.",
        f"; sha256 of the program: {digest}",
        f'(set-info :source "doeblin {verdict.ints}")',
        "(set-logic ALL)",
        "",
    ]
    formulas = [invariant.formula for invariant in verdict.invariants]
    for cut, formula in zip(program.system.cuts, formulas, strict=True):
        parameters = " ".join(f"({symbol(name)} Int)" for name in cut.variables)
        lines.append(f"; at {cut.place}")
        name = symbol(PREFIX + cut.name)
        lines.append(f"(define-fun {name} ({parameters}) Bool {smtlib(formula)})")
    for number, obligation in enumerate(obligations(program.system, formulas)):
        definitions = Definitions(f"t{number}!")
        text = definitions.text(obligation.formula)
        lines += ["", f"; {obligation.says}", "(push 1)", "(set-info :status unsat)"]
        for name in sorted(variables(obligation.formula)):
            lines.append(f"(declare-const {symbol(name)} Int)")
        lines += [*definitions.lines, f"(assert {text})", "(check-sat)", "(pop 1)"]
    return "\n".join(lines) + "\n"


def check_certificate(
    program: Program, text: str, *, file: str = "<certificate>", timeout: float = 60.0
) -> str | None:
    """Re-check a proof without searching: None if it holds, else what does not.

    Only the invariants are taken from the certificate; the conditions are made anew from the
    program, so a certificate for another program cannot pass.
    """
    if program.unsupported:
        return program.unsupported
    found = _invariants(text, file)
    system = program.system
    terms = []
    for cut in system.cuts:
        if cut.name not in found:
            raise InputError(
                f"there is no invariant of '{cut.name}' ({cut.place}); is this certificate for "
                f"{program.file}?",
                place=Place(file),
            )
        parameters, body = found[cut.name]
        if len(parameters) != len(cut.variables):
            raise InputError(
                f"the invariant of '{cut.name}' has {len(parameters)} variables, the program has "
                f"{len(cut.variables)} there",
                place=Place(file),
            )
        names = {p: var(n) for p, n in zip(parameters, cut.variables, strict=True)}
        terms.append(as_bool(Formulas().term(body, names)))
    with Clock(timeout) as clock:
        return recheck(system, terms, clock)


def _invariants(text: str, file: str) -> dict[str, tuple[list[str], Group | Symbol]]:
    found = {}
    for command in parse(text, file):
        if not (isinstance(command, Group) and len(command) == 5 and command[0] == "define-fun"):
            continue
        name, parameters = str(command[1]), command[2]
        if name.startswith(PREFIX) and isinstance(parameters, Group):
            names = [str(item[0]) for item in parameters if isinstance(item, Group)]
            found[name.removeprefix(PREFIX)] = (names, command[4])
    return found
