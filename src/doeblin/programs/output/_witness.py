"""Witnesses in the format 2.0 of the software verification competition (YAML)."""

from __future__ import annotations

import datetime
import os
import uuid
from functools import partial
from typing import Any

from ..._errors import InputError, Place
from ..._text import json_text
from ..._version import __version__
from .._program import Program
from ..frontends.c import ALLOCATING, SIGNED_OVERFLOW
from ..system import Graph
from ..system.terms import TooLargeError, c_number, c_text
from ..verdict import Outcome, Verdict
from ._names import closing, following, graph_of, located

NO_CALL = "G ! call(reach_error())"  # any assertion counts as one
NO_OVERFLOW = "G ! overflow"
_ANNOTATION = "ACSL"  # how failures of annotations begin
_ELSE = "the format has no property for {}"


def witness(program: Program, verdict: Verdict) -> str:
    """A correctness witness for SAFE, a violation witness for UNSAFE."""
    if verdict.outcome is Outcome.UNSAFE:
        return _violation(program, verdict)
    return _correctness(program, verdict)


def _correctness(program: Program, verdict: Verdict) -> str:
    graph = graph_of(program, verdict, Outcome.SAFE, "a correctness witness")
    specification = _proved(program)
    content = []
    for item in located(graph, verdict):
        loop = item.loop
        if item.cells is not None:  # C has no quantifiers
            continue
        kind, place = "loop_invariant", loop.place
        if loop.keyword == "do":
            # The format speaks of the controlling expression; ours holds where the body begins.
            if loop.body is None:
                continue
            kind, place = "location_invariant", loop.body
        elif loop.keyword == "goto":
            kind = "location_invariant"
        try:
            value = c_text(item.formula, item.names, ranges=partial(_range, graph))
        except TooLargeError:
            continue
        invariant = {
            "type": kind,
            "location": _location(place, loop.function),
            "value": value,
            "format": "c_expression",
        }
        content.append({"invariant": invariant})
    return _document(program, "invariant_set", content, specification)


def _range(graph: Graph, name: str) -> tuple[int, int]:
    """What the type of a variable holds."""
    variable = graph.variables[name]
    low, high = variable.low, variable.high
    return (-(1 << 63) if low is None else low, (1 << 63) - 1 if high is None else high)


def _proved(program: Program) -> str:
    """With overflow as a failure, its absence; otherwise that of failing assertions, if any."""
    if program.ints == "overflow":
        return NO_OVERFLOW
    properties = program.remarks.properties.values() if program.remarks is not None else ()
    if all(what.startswith(_ANNOTATION) for what in properties):
        raise InputError(_ELSE.format("annotations" if properties else "undefined behaviour"))
    return NO_CALL


def _violated(what: str) -> str:
    if what == SIGNED_OVERFLOW:
        return NO_OVERFLOW
    if what.startswith((_ANNOTATION, "undefined")):
        raise InputError(_ELSE.format(what.removeprefix("undefined behaviour: ")))
    return NO_CALL


def _violation(program: Program, verdict: Verdict) -> str:
    graph = graph_of(program, verdict, Outcome.UNSAFE, "a violation witness")
    run = verdict.failure.run if verdict.failure else None
    specification = _violated(run.failure.what if run and run.failure else "")
    segments: list[Any] = []
    pending: dict[Place, list[str]] = {}  # values of variables without initialiser
    last: Place | None = None

    def flush(now: Place | None = None) -> None:
        """Such values can be stated where the statement after the declaration begins, unless the
        run is still within that declaration."""
        for place in list(pending):
            if now is None or last is None or not (_before(last, now) and _before(now, place)):
                constraint = {"value": " && ".join(pending.pop(place)), "format": "c_expression"}
                segments.append(_segment("assumption", _location(place), constraint))

    if run and any(graph.bits(havoc.name) is not None for havoc, _ in run.inputs):
        raise InputError("a violation witness with inputs of floating point is not available")
    for havoc, value in run.inputs if run else ():
        if havoc.place is None or havoc.origin not in ("call", "declaration"):
            continue
        if havoc.place.file != program.file:
            continue
        flush(havoc.place)
        last = havoc.place
        if havoc.origin == "call":
            end = closing(program.text, havoc.place)
            if end is not None:
                said = f"\\result == {value}"
                if havoc.call in ALLOCATING and value:  # an object, wherever that is
                    said = "\\result != 0"
                constraint = {"value": said, "format": "acsl_expression"}
                segments.append(_segment("function_return", _location(end[0]), constraint))
        elif (place := following(program.text, havoc.place)) is not None:
            name = graph.variables[havoc.name].shown
            pending.setdefault(place, []).append(f"{name} == {c_number(value)}")
    flush()
    fail = run.failure if run else None
    target = fail.at or fail.place if fail is not None else None
    if target is not None:
        segments.append(_segment("target", _location(target)))
    return _document(program, "violation_sequence", segments, specification)


def _before(place: Place, other: Place) -> bool:
    return (place.line or 0, place.column or 0) < (other.line or 0, other.column or 0)


def _segment(kind: str, location: dict, constraint: dict | None = None) -> dict:
    waypoint: dict[str, Any] = {"type": kind, "action": "follow", "location": location}
    if constraint:
        waypoint["constraint"] = constraint
    return {"segment": [{"waypoint": waypoint}]}


def _location(place: Place, function: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "file_name": place.file,
        "line": place.line,
        "column": place.column,
    }
    return found | ({"function": function} if function else {})


def _document(program: Program, kind: str, content: list[Any], specification: str) -> str:
    entry = program.remarks.entry if program.remarks is not None else "main"
    task = {
        "input_files": [program.file],
        "input_file_hashes": {program.file: program.digest},
        "specification": f"CHECK( init({entry}()), LTL({specification}) )",
        "data_model": "LP64",
        "language": "C",
    }
    # The same witness has the same name, whenever it is written.
    name = uuid.uuid5(uuid.NAMESPACE_OID, json_text([kind, task, content, __version__]))
    entry = {
        "entry_type": kind,
        "metadata": {
            "format_version": "2.0",
            "uuid": str(name),
            "creation_time": _now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "producer": {"name": "doeblin", "version": __version__},
            "task": task,
        },
        "content": content,
    }
    return "".join(_yaml([entry], 0))


def _now() -> datetime.datetime:
    """The time; builds that must be reproducible set SOURCE_DATE_EPOCH."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        return datetime.datetime.fromtimestamp(int(given), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.datetime.now(datetime.UTC)


def _yaml(value: Any, depth: int) -> list[str]:
    """Block-style YAML; every scalar is written as JSON, which YAML contains."""
    pad = "  " * depth
    lines: list[str] = []
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list):
                inner = _yaml(item, depth + 1)
                lines += [f"{pad}- {inner[0].lstrip()}", *inner[1:]]
            else:
                lines.append(f"{pad}- {json_text(item)}\n")
    else:
        for key, item in value.items():
            name = key if key.replace("_", "").isalnum() else json_text(key)
            if isinstance(item, dict | list) and item:
                lines += [f"{pad}{name}:\n", *_yaml(item, depth + 1)]
            else:
                lines.append(f"{pad}{name}: {json_text(item)}\n")
    return lines
