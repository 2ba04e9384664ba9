"""A failing run, line by line."""

from __future__ import annotations

from .._program import Program
from ..solve import Fact
from ..system import Assign, Branch, Call, Fail, Havoc, Return, Store
from ..system.terms import value_text
from ..verdict import Verdict
from ._names import lines_of


def trace(program: Program, verdict: Verdict) -> list[str]:
    """What happened, one line each: source line, then the value that it made."""
    failure = verdict.failure
    if failure is None:
        return []
    if failure.run is None:
        return [_fact(number, fact) for number, fact in enumerate(failure.facts)]
    lines = lines_of(program.text)
    shown: list[str] = []
    variables = program.graph.variables if program.graph else {}

    def text(name: str, value: int | bool | None) -> str:
        return value_text(int(value), variables[name].bits) if value is not None else ""

    gap = failure.run.gap
    for number, (step, value) in enumerate(failure.run.steps):
        if gap is not None and number == gap[0]:
            shown.append(f"    …  about {gap[1]} steps are not shown")
        place = step.place
        if place is None or place.line is None:
            continue
        if isinstance(step, Assign | Havoc):
            name = variables[step.name].shown
            if name:
                what = f"{name} = {text(step.name, value)}"
            elif isinstance(step, Havoc) and step.call:
                what = f"{step.call}() gives {text(step.name, value)}"
            else:
                continue
        elif isinstance(step, Store):
            what = f"{program.graph.shown(step.array)}[{step.index.leaf}] = {value}"  # type: ignore[union-attr]
        elif isinstance(step, Branch):
            what = "true" if value else "false"
        elif isinstance(step, Fail):
            what = step.what
        elif isinstance(step, Call):
            what = f"{step.shown} is called"
        elif isinstance(step, Return):
            told = f" {value}" if value is not None else ""
            what = f"{step.shown} returns{told}"
        else:
            continue
        if place.file != program.file:
            source = f"({place})"
        else:
            source = lines[place.line - 1].strip() if place.line <= len(lines) else ""
        shown.append(f"{place.line:>5}  {source:<48}  {what}")
    return [*shown, *(f"    {line}" for line in calls(program, verdict))]


def calls(program: Program, verdict: Verdict) -> list[str]:
    """The calls that had not returned when a run failed, innermost first."""
    run = verdict.failure.run if verdict.failure is not None else None
    found = []
    for call, args in reversed(run.stack if run is not None else ()):
        names = []
        if program.graph is not None:
            parameters = program.graph.procedures[call.procedure].parameters
            names = [program.graph.variables[name].shown for name in parameters]
        values = ", ".join(f"{n} = {v}" for n, v in zip(names, args, strict=True))
        found.append(f"in {call.shown}({values}), called at {call.place}")
    return found


def _fact(number: int, fact: Fact) -> str:
    """A clause instance; what it builds on is said where it is not just the one before."""
    shown = f"{number}: {fact.name} " + ", ".join(f"{k} = {v}" for k, v in fact.values.items())
    if fact.premises in ((), (number - 1,)):
        return shown
    return f"{shown}  (from {' and '.join(map(str, fact.premises))})"
