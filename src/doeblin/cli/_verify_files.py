"""The files that `doeblin verify` writes: checked before the work, written whole after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._errors import InputError
from .._files import write_text
from ._outputs import check_outputs, same_file

OUTPUTS = ("acsl", "witness", "certificate", "test")


def check_targets(sources: list[Path], options: dict[str, Any]) -> None:
    """No output may replace a source or another output."""
    outputs = {f"--{name}": options[name] or None for name in (*OUTPUTS, "resume")}
    check_outputs(outputs, {str(path): path for path in sources})


def _check_included(program: Any, target: str) -> None:
    """No output may replace a header that the program has read."""
    included = program.remarks.included if program.remarks is not None else ()
    if any(same_file(path, target) for path in included):
        raise InputError("the program includes it: choose another name")


def reproduced(program: Any, verdict: Any, target: str | None) -> tuple[Any, list[str]]:
    """Write a test that fails as the program does; the verdict, and what was written.

    A compiled test that ends well is evidence against the verdict, which is UNKNOWN then. It cannot
    speak for UNSAFE: that takes a replayed run, with or without a compiler.
    """
    if not target:
        return verdict, []
    if verdict.outcome.value != "UNSAFE":
        return verdict, [f"not written: {target} (--test is for UNSAFE)"]
    from ..programs import Outcome, output

    try:
        _check_included(program, target)
        text = output.driver(program, verdict)
    except InputError as error:  # the verdict stands
        return verdict, [f"not written: {target} ({error})"]
    tried = output.run_driver(text, verdict)
    if tried.fails is False:
        reason = f"{verdict.reason} was found, but its test was {tried.remark}: please report this"
        doubted = dataclasses.replace(
            verdict, outcome=Outcome.UNKNOWN, reason=reason, doubtful=True
        )
        return doubted, [f"not written: {target} ({tried.remark})"]
    if not tried.kept:
        return verdict, [f"not written: {target} ({tried.remark})"]
    write_text(target, output.confirmed(text) if tried.fails else text)
    return verdict, [f"wrote {target} ({tried.remark})"]


def write_outputs(program: Any, verdict: Any, options: dict[str, Any]) -> Iterator[str]:
    """All but the test: what was written; a file for the other verdict is mentioned as not
    written."""
    writers = {"acsl": ("SAFE",), "witness": ("SAFE", "UNSAFE"), "certificate": ("SAFE",)}
    for name, verdicts in writers.items():
        target = options[name]
        if not target:
            continue
        if verdict.outcome.value not in verdicts:
            yield f"not written: {target} (--{name} is for {' and '.join(verdicts)})"
            continue
        from ..programs import output  # a proof that is only told does not wait for it

        try:
            _check_included(program, target)
            text = getattr(output, name)(program, verdict)
        except InputError as error:  # the verdict stands
            yield f"not written: {target} ({error})"
            continue
        write_text(target, text)
        yield f"wrote {target}"
