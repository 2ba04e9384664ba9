"""The same clauses given to other solvers, each in a process of its own with a hard limit."""

from __future__ import annotations

import multiprocessing
import time
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from .flow import System
from .learner import multiplies
from .terms import smtlib, symbol, variables

PEERS = ("spacer", "spacer-global", *(("cvc5",) if find_spec("cvc5") else ()))


class Answer(NamedTuple):
    """`safe`, `unsafe` or `unknown`, and the CPU seconds that the solver used."""

    result: str
    seconds: float


def ask_peer(peer: str, path: Path, seconds: float) -> Answer:
    """Let a peer decide a file; it is stopped when its time is over."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, peer, str(path), seconds), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(60):  # loading, not counted
            return Answer("unknown", seconds)
        here.recv_bytes()
        if not here.poll(seconds + 0.5):
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
    from ._spacer import spacer
    from .proof import Clock, OutOfTime

    program = read_program(file)
    system = None if program.unsupported else program.system
    if peer == "cvc5":
        import_module("cvc5")
    pipe.send_bytes(b"ready")
    before = time.process_time()
    result = "unknown"
    if system is not None and peer == "cvc5":
        result = _cvc5(system, seconds)
    elif system is not None:
        with Clock(seconds) as clock:
            try:
                answer = spacer(system, clock, global_guidance=peer == "spacer-global")
                if not isinstance(answer, str):
                    result = "unsafe" if answer is None else "safe"
                elif "quantifiers" in answer:
                    result = "safe"  # its own word; only our re-check cannot read the proof
            except OutOfTime:
                pass
    pipe.send_bytes(f"{result} {time.process_time() - before:.4f}".encode())


def sygus_text(system: System) -> str:
    """The clauses as a SyGuS problem, one unknown predicate for each cut point."""
    lines = [f"(set-logic {'NIA' if multiplies(system) else 'LIA'})"]
    for number, cut in enumerate(system.cuts):
        parameters = " ".join(f"(x{i} Int)" for i in range(len(cut.variables)))
        lines.append(f"(synth-fun inv{number} ({parameters}) Bool)")
    names: dict[str, None] = {}
    constraints = []
    for clause in system.clauses:
        source = system.cuts[clause.source].variables if clause.source is not None else ()
        names |= dict.fromkeys([*source, *variables(clause.constraint, *clause.args)])
        known = _call(clause.source, [symbol(n) for n in source])
        head = _call(clause.target, [smtlib(arg) for arg in clause.args], otherwise="false")
        premise = smtlib(clause.constraint)
        if known != "true":
            premise = f"(and {known} {premise})"
        constraints.append(f"(constraint (=> {premise} {head}))")
    lines += [f"(declare-var {symbol(name)} Int)" for name in names]
    return "\n".join([*lines, *constraints, "(check-synth)"])


def _call(cut: int | None, args: list[str], otherwise: str = "true") -> str:
    if cut is None:
        return otherwise
    return f"(inv{cut} {' '.join(args)})" if args else f"inv{cut}"


def _cvc5(system: System, seconds: float) -> str:
    """cvc5's SyGuS engine: it finds proofs; that there is none it cannot say."""
    cvc5: Any = import_module("cvc5")
    solver = cvc5.Solver()
    solver.setOption("sygus", "true")
    solver.setOption("tlimit", str(int(1000 * seconds)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SYGUS_2_1, sygus_text(system), "clauses")
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, parser.getSymbolManager()).strip() or answer
    return "safe" if "define-fun" in answer else "unknown"
