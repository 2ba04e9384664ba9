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
from .system import System
from .system.terms import Term, smtlib, substitute, symbol, var, variables

# A peer may use so many seconds on the clock for each second of the processor: on a busy machine
# it shall not lose time to others.
_PATIENCE = 4
PEERS = ("spacer", "spacer-global", *(("cvc5",) if find_spec("cvc5") else ()))


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
    system = None if program.unsupported else program.system
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


def sygus_text(system: System) -> str:
    """The clauses as a SyGuS problem, one unknown predicate for each cut point.

    Predicates are applied to distinct variables only, and what they are is said by equations:
    the form in which cvc5 recognises start, step and property of a transition system.
    """
    lines = [f"(set-logic {'NIA' if multiplies(system) else 'LIA'})"]
    for number, cut in enumerate(system.cuts):
        parameters = " ".join(f"(x{i} Int)" for i in range(len(cut.variables)))
        lines.append(f"(synth-fun inv{number} ({parameters}) Bool)")
    names: dict[str, None] = {}
    constraints = []
    for clause in system.clauses:
        premises, head = [], "false"
        before = _state(system, clause.source)
        now = dict(before)
        for premise in clause.premises:
            premises.append(_call(premise.cut, [now.get(n, var(n)).leaf for n in premise.names]))
        constraint = substitute(clause.constraint, now)
        args = [substitute(arg, now) for arg in clause.args]
        premises.append(smtlib(constraint))
        used = [new.leaf for _, new in before] + sorted(variables(constraint, *args))
        used += [name for premise in clause.premises[1:] for name in premise.names]
        if clause.target is not None:
            mark = "" if clause.source is None else "!"
            after = [f"{new.leaf}{mark}" for _, new in _state(system, clause.target)]
            premises += [f"(= {symbol(n)} {smtlib(a)})" for n, a in zip(after, args, strict=True)]
            used += after
            head = _call(clause.target, after)
        names |= dict.fromkeys(used)
        constraints.append(f"(constraint (=> (and true {' '.join(premises)}) {head}))")
    lines += [f"(declare-var {symbol(name)} Int)" for name in names]
    return "\n".join([*lines, *constraints, "(check-synth)"])


def _state(system: System, cut: int | None) -> list[tuple[str, Term]]:
    """A cut's variables under names that no other cut uses."""
    found = system.cuts[cut].variables if cut is not None else ()
    return [(name, var(f"{cut}:{name}")) for name in found]


def _call(cut: int, names: list[str]) -> str:
    return f"(inv{cut} {' '.join(map(symbol, names))})" if names else f"inv{cut}"


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
