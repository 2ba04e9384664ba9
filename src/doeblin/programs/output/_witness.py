"""Witnesses in the format 2.0 of the software verification competition (YAML)."""

from __future__ import annotations

import datetime
import hashlib
import json
import uuid
from typing import Any

from ..._errors import Place
from ..._version import __version__
from .._program import Program
from .._verdict import Outcome, Verdict
from ._c_text import c_text
from ._names import closing, graph_of, located

SPECIFICATION = "CHECK( init(main()), LTL(G ! call(reach_error())) )"


def witness(program: Program, verdict: Verdict) -> str:
    """A correctness witness for SAFE, a violation witness for UNSAFE."""
    if verdict.outcome is Outcome.UNSAFE:
        return _violation(program, verdict)
    return _correctness(program, verdict)


def _correctness(program: Program, verdict: Verdict) -> str:
    graph = graph_of(program, verdict, Outcome.SAFE, "a correctness witness")
    content = []
    for item in located(graph, verdict):
        loop = item.loop
        kind, place = "loop_invariant", loop.place
        if loop.keyword == "do":
            # The format speaks of the controlling expression; ours holds where the body begins.
            if loop.body is None:
                continue
            kind, place = "location_invariant", loop.body
        elif loop.keyword == "goto":
            kind = "location_invariant"
        content.append(
            {
                "invariant": {
                    "type": kind,
                    "location": _location(program, place, loop.function),
                    "value": c_text(item.formula, item.names, wide=True),
                    "format": "c_expression",
                }
            }
        )
    return _document(program, "invariant_set", content)


def _violation(program: Program, verdict: Verdict) -> str:
    graph_of(program, verdict, Outcome.UNSAFE, "a violation witness")
    run = verdict.failure.run if verdict.failure else None
    segments: list[Any] = []
    for havoc, value in run.inputs if run else ():
        if havoc.origin != "call" or havoc.place is None:
            continue
        end = closing(program.text, havoc.place)
        if end is None:
            continue
        segments.append(
            _segment(
                "function_return",
                _location(program, end[0], "main"),
                {"value": f"\\result == {value}", "format": "ext_c_expression"},
            )
        )
    fail = run.failure if run else None
    if fail is not None and fail.place is not None:
        segments.append(_segment("target", _location(program, fail.place, "main")))
    return _document(program, "violation_sequence", segments)


def _segment(kind: str, location: dict, constraint: dict | None = None) -> dict:
    waypoint: dict[str, Any] = {"type": kind, "action": "follow", "location": location}
    if constraint:
        waypoint["constraint"] = constraint
    return {"segment": [{"waypoint": waypoint}]}


def _location(program: Program, place: Place, function: str) -> dict[str, Any]:
    return {
        "file_name": program.file,
        "line": place.line,
        "column": place.column,
        "function": function,
    }


def _document(program: Program, kind: str, content: list[Any]) -> str:
    digest = hashlib.sha256(program.text.encode("utf-8")).hexdigest()
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = {
        "entry_type": kind,
        "metadata": {
            "format_version": "2.0",
            "uuid": str(uuid.uuid4()),
            "creation_time": now,
            "producer": {"name": "doeblin", "version": __version__},
            "task": {
                "input_files": [program.file],
                "input_file_hashes": {program.file: digest},
                "specification": SPECIFICATION,
                "data_model": "LP64",
                "language": "C",
            },
        },
        "content": content,
    }
    return "".join(_yaml([entry], 0))


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
                lines.append(f"{pad}- {json.dumps(item, ensure_ascii=False)}\n")
    else:
        for key, item in value.items():
            name = key if key.replace("_", "").isalnum() else json.dumps(key)
            if isinstance(item, dict | list) and item:
                lines += [f"{pad}{name}:\n", *_yaml(item, depth + 1)]
            else:
                lines.append(f"{pad}{name}: {json.dumps(item, ensure_ascii=False)}\n")
    return lines
