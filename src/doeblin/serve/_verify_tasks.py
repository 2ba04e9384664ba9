"""Proofs, in the worker process."""

from __future__ import annotations

import threading
import time

from .._compiling import told_of_pauses
from ..programs import Outcome, Program, Verdict, output, parse_program, verify
from ..programs.process import prepare_process
from ..programs.verdict import INTS
from ._news import Teller
from ._worker import Emit, Handler, Message, Say

_MOST_LINES = 2_000


def prepare(say: Say) -> Handler:
    say("getting the solver ready")
    prepare_process()
    return _handle


def _handle(payload: Message, emit: Emit, cancel: threading.Event) -> Message:
    before = time.monotonic()
    program = parse_program(
        payload["program"],
        file=payload["file"],
        language=payload["language"],
        ints=payload["ints"],
    )
    spent = time.monotonic() - before
    emit("parsed", {})
    # Most proofs need no search, and most searches nothing compiled: it is loaded or compiled when
    # needed, and the server's clock stands still as the proof's does.
    with told_of_pauses(lambda: emit("preparing", {}), lambda: emit("prepared", {})):
        verdict = verify(
            program,
            timeout=payload["timeout"],
            seed=payload["seed"],
            method=payload["method"],
            hints=payload["hints"],
            on_event=Teller(emit),
            cancel=cancel,
            spent=spent,
        )
    return verdict.as_dict() | {"ints_meaning": INTS[verdict.ints]} | _files(program, verdict)


def _files(program: Program, verdict: Verdict) -> Message:
    """What travels: annotated source, witness, certificate; for a failure its trace and a test."""
    found: Message = {"trace": [], "files": []}

    def add(kind: str, name: str, make) -> None:
        found["files"].append({"kind": kind, "name": name, "text": make(program, verdict)})

    stem = program.file.rpartition(".")[0] or program.file
    is_c = program.language == "c"
    if verdict.outcome is Outcome.SAFE:
        if is_c:
            add("acsl", f"{stem}.acsl.c", output.acsl)
            add("witness", f"{stem}.witness.yml", output.witness)
        add("certificate", f"{stem}.proof.smt2", output.certificate)
    elif verdict.outcome is Outcome.UNSAFE:
        found["trace"] = output.trace(program, verdict)[:_MOST_LINES]
        if is_c:
            add("witness", f"{stem}.witness.yml", output.witness)
            add("test", f"{stem}.test.c", output.driver)
    return found
