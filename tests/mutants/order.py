"""A pytest plugin: which functions each test enters and how long it takes; tests in a given order.

A mutant meets the tests that enter the changed function, first those that are quick or have killed
many: most are then killed in seconds. A test that finds a function compiled by an earlier one does
not enter it and is left out, so that the share of mutants that are killed is, if anything, said too
low. A test that takes ten times as long as it did is ended.
"""

from __future__ import annotations

import ast
import faulthandler
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

RECORD = "DOEBLIN_MUTANTS_RECORD"
ORDER = "DOEBLIN_MUTANTS_ORDER"


@dataclass(frozen=True)
class Record:
    """What a test did on sound code: the functions it entered, as (file, qualified name)."""

    test: str
    seconds: float
    entered: frozenset[tuple[str, str]]


def read_records(path: Path) -> list[Record]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [Record(t, s, frozenset((file, name) for file, name in e)) for t, s, e in rows]


def chosen(
    records: list[Record], kills: Counter[str], file: str, text: str, line: int
) -> list[tuple[str, float]]:
    """The tests that enter a function around a line of `file` (all if none does), and seconds."""
    around = {(file, name) for name in _around(ast.parse(text), line, "")}
    entering = [record for record in records if around & record.entered] or records
    entering = sorted(entering, key=lambda record: record.seconds / (1 + kills[record.test]))
    return [(record.test, record.seconds) for record in entering]


def _around(node: ast.AST, line: int, prefix: str) -> Iterator[str]:
    """The qualified names of the functions that hold a line."""
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            first = min(part.lineno for part in (child, *child.decorator_list))
            if not first <= line <= (child.end_lineno or 0):
                continue
            inner = f"{prefix}{child.name}."
            if isinstance(child, ast.FunctionDef):
                yield inner[:-1]
                inner += "<locals>."
        yield from _around(child, line, inner)


# ---- inside of pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if ORDER in os.environ:
        rank = {test: number for number, test in enumerate(_limits())}
        items[:] = sorted(
            (item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid]
        )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if RECORD in os.environ:
        yield from _recorded(item, Path(os.environ[RECORD]))
    else:
        faulthandler.dump_traceback_later(30 + 10 * _limits()[item.nodeid], exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()


def _limits() -> dict[str, float]:
    return dict(json.loads(Path(os.environ[ORDER]).read_text()))


def _recorded(item: pytest.Item, path: Path) -> Iterator[None]:
    entered = set()
    start = time.monotonic()
    sys.setprofile(lambda frame, event, _: entered.add(frame.f_code) if event == "call" else None)
    yield
    sys.setprofile(None)
    root = f"{Path.cwd()}{os.sep}"
    functions = [
        (code.co_filename.removeprefix(root), code.co_qualname)
        for code in entered
        if code.co_filename.startswith(root)
    ]
    with path.open("a") as file:
        print(json.dumps([item.nodeid, time.monotonic() - start, functions]), file=file)
