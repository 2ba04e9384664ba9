"""The same clauses given to other solvers, each in a process of its own with a hard limit."""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import time
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from .._children import end_with_parent
from .learner import multiplies
from .system import Clause, System
from .system.terms import (
    Term,
    Translator,
    array,
    cells_read,
    compare,
    conj,
    const,
    postorder,
    select,
    smtlib,
    substitute,
    symbol,
    var,
    variables,
)

# A peer may use so many seconds on the clock for each second of the processor: on a busy machine
# it shall not lose time to others.
_PATIENCE = 4
PEERS = ("spacer", "spacer-global", *(("cvc5",) if find_spec("cvc5") else ()))
_CELLS = "(Array Int Int)"
QUANTIFIED = "spacer-quantifiers"
"""Spacer with lemmas that have quantifiers, which matter beside arrays only."""
_SETTINGS: dict[str, dict[str, bool]] = {
    "spacer": {},
    "spacer-global": {"fp.spacer.global": True},
    QUANTIFIED: {
        "fp.spacer.ground_pobs": False,
        "fp.spacer.q3.use_qgen": True,
        "fp.spacer.mbqi": False,
        "fp.spacer.use_euf_gen": True,
    },
}


class Answer(NamedTuple):
    """`safe`, `unsafe` or `unknown`, and the CPU seconds that the solver used."""

    result: str
    seconds: float


def ask_peer(peer: str, path: Path, seconds: float) -> Answer:
    """Let a peer decide a file; it is stopped when it has used its seconds of the processor."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, peer, str(path), seconds), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(60):  # loading, not counted
            return Answer("unknown", seconds)
        here.recv_bytes()
        if not here.poll(_PATIENCE * seconds + 0.5):
            return Answer("unknown", seconds)
        result, used = here.recv_bytes().decode().split()
        return Answer(result, float(used))
    except EOFError:
        return Answer("unknown", seconds)
    finally:
        process.kill()
        process.join()
        here.close()


def _serve(pipe: Connection, peer: str, file: str, seconds: float) -> None:
    from ._program import read_program
    from .solve import Budget, OutOfTime, spacer

    end_with_parent()
    with open(os.devnull, "wb") as nowhere:  # a solver that crashes prints, below Python's streams
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    program = read_program(file)
    system = None if program.unsupported else program.exact
    if system is not None and system.cellular and program.given is not None:
        system = program.given  # as it was read
    if system is not None and system.floating:  # of which these texts know nothing
        system = None
    if peer == "cvc5":
        import_module("cvc5")
    pipe.send_bytes(b"ready")
    before = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(before + seconds), resource.RLIM_INFINITY))
    seconds *= _PATIENCE
    result = "unknown"
    if system is not None and peer == "cvc5":
        result = _cvc5(system, seconds)
    elif system is not None and system.cellular:
        result = _with_arrays(system, seconds, _SETTINGS[peer])
    elif system is not None:
        with Budget(seconds) as budget:
            try:
                answer = spacer(system, budget, global_guidance=peer == "spacer-global")
                if not isinstance(answer, str):
                    result = "unsafe" if answer is None else "safe"
                elif "quantifiers" in answer:
                    result = "safe"  # its own word; only our re-check cannot read the proof
            except OutOfTime:
                pass
    pipe.send_bytes(f"{result} {time.process_time() - before:.4f}".encode())


def _with_arrays(system: System, seconds: float, settings: dict[str, bool]) -> str:
    """Spacer on clauses with arrays as they are; its own word."""
    import z3

    context = z3.Context()
    translate = Translator(context)
    integer, boolean = z3.IntSort(context), z3.BoolSort(context)
    cells = z3.ArraySort(integer, integer)
    predicates = []
    for number, cut in enumerate(system.cuts):
        sorts = [integer] * len(cut.variables) + [cells] * len(cut.arrays)
        predicates.append(z3.Function(f"inv{number}", *sorts, boolean))
    solver = z3.SolverFor("HORN", ctx=context)
    solver.set("timeout", int(1000 * seconds))
    for name, value in settings.items():
        solver.set(name, value)
    for clause in system.clauses:
        bound = [translate.constant(name) for name in clause.names()]
        bound += [translate.array(bank.name) for bank in clause.banks]
        body = [translate(conj((clause.constraint, _of_their_types(system, clause))))]
        for premise in clause.premises:
            state = [translate.constant(name) for name in premise.names]
            state += [translate.array(name) for name in premise.arrays]
            body.append(predicates[premise.cut](*state))
            bound += state
        head: Any = z3.BoolVal(False, context)
        if clause.target is not None:
            head = predicates[clause.target](*map(translate, (*clause.args, *clause.arrays)))
        rule = z3.Implies(z3.And(*body, context), head)
        solver.add(z3.ForAll(bound, rule) if bound else rule)
    try:
        answer = str(solver.check())
    except z3.Z3Exception:
        return "unknown"
    return {"sat": "safe", "unsat": "unsafe"}.get(answer, "unknown")


def _of_their_types(system: System, clause: Clause) -> Term:
    """That the cells which a clause reads have values of their types."""
    banks = {bank.name: bank for bank in clause.banks}
    for premise in clause.premises:
        banks |= zip(premise.arrays, system.cuts[premise.cut].arrays, strict=True)
    found = []
    for leaf, index in cells_read(clause.constraint, *clause.args, *clause.arrays):
        low, high = banks[leaf].low, banks[leaf].high
        cell = select(array(leaf), index)
        found += [compare("<=", const(low), cell)] if low is not None else []
        found += [compare("<=", cell, const(high))] if high is not None else []
    return conj(found)


def sygus_text(system: System) -> str:
    """The clauses as a SyGuS problem, one unknown predicate for each cut point.

    Predicates are applied to distinct variables only, and what they are is said by equations:
    the form in which cvc5 recognises start, step and property of a transition system.
    """
    logic = "NIA" if multiplies(system) else "LIA"
    lines = [f"(set-logic {'ALL' if system.cellular else logic})"]
    for number, cut in enumerate(system.cuts):
        sorts = ["Int"] * len(cut.variables) + [_CELLS] * len(cut.arrays)
        parameters = " ".join(f"(x{i} {sort})" for i, sort in enumerate(sorts))
        lines.append(f"(synth-fun inv{number} ({parameters}) Bool)")
    names: dict[str, str] = {}
    constraints = []
    for clause in system.clauses:
        premises, head = [], "false"
        before = _state(system, clause.source)
        now = dict(before)
        for premise in clause.premises:
            state = (*map(var, premise.names), *map(array, premise.arrays))
            state = [now.get(term.leaf, term) for term in state]
            premises.append(_call(premise.cut, state))
            names |= {term.leaf: _sort(term) for term in state}
        constraint = conj((clause.constraint, _of_their_types(system, clause)))
        constraint = substitute(constraint, now)
        args = [substitute(arg, now) for arg in (*clause.args, *clause.arrays)]
        premises.append(smtlib(constraint))
        held = {node.leaf for node in postorder(constraint, *args) if node.op == "array"}
        used = sorted(variables(constraint, *args) | held)
        names |= {name: _CELLS if name in held else "Int" for name in used}
        if clause.target is not None:
            mark = "" if clause.source is None else "!"
            after = [_named(new, f"{new.leaf}{mark}") for _, new in _state(system, clause.target)]
            pairs = zip(after, args, strict=True)
            premises += [f"(= {symbol(new.leaf)} {smtlib(arg)})" for new, arg in pairs]
            names |= {new.leaf: _sort(new) for new in after}
            head = _call(clause.target, after)
        constraints.append(f"(constraint (=> (and true {' '.join(premises)}) {head}))")
    lines += [f"(declare-var {symbol(name)} {sort})" for name, sort in names.items()]
    return "\n".join([*lines, *constraints, "(check-synth)"])


def _sort(term: Term) -> str:
    return _CELLS if term.op == "array" else "Int"


def _named(term: Term, name: str) -> Term:
    return array(name) if term.op == "array" else var(name)


def _state(system: System, cut: int | None) -> list[tuple[str, Term]]:
    """A cut's variables and arrays under names that no other cut uses."""
    if cut is None:
        return []
    found = [(name, var(f"{cut}:{name}")) for name in system.cuts[cut].variables]
    return found + [(b.name, array(f"{cut}:{b.name}")) for b in system.cuts[cut].arrays]


def _call(cut: int, state: list[Term]) -> str:
    names = " ".join(symbol(term.leaf) for term in state)
    return f"(inv{cut} {names})" if names else f"inv{cut}"


def _cvc5(system: System, seconds: float) -> str:
    """cvc5's SyGuS engine: it finds proofs, and sometimes that there is none."""
    cvc5: Any = import_module("cvc5")
    solver = cvc5.Solver()
    solver.setOption("sygus", "true")
    solver.setOption("tlimit", str(int(1000 * seconds)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SYGUS_2_1, sygus_text(system), "clauses")
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, parser.getSymbolManager()).strip() or answer
    if "infeasible" in answer:
        return "unsafe"
    return "safe" if "define-fun" in answer else "unknown"
