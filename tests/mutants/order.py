"""A pytest plugin: which functions each test enters and how long it takes; tests in a given order.

The tests that enter the changed function come first, the quick before the slow: most mutants are
then killed in seconds. None is left out, since a test that finds a function compiled by an
earlier one does not enter it. A test that takes ten times as long as it did is ended.
"""

from __future__ import annotations

import ast
import faulthandler
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

RECORD = "DOEBLIN_MUTANTS_RECORD"
ORDER = "DOEBLIN_MUTANTS_ORDER"


@dataclass(frozen=True)
class Record:
    """What a test did on sound code: the functions it entered, as (file, first line)."""

    test: str
    seconds: float
    entered: frozenset[tuple[str, int]]


def read_records(path: Path) -> list[Record]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [Record(t, s, frozenset((file, line) for file, line in e)) for t, s, e in rows]


def in_order(records: list[Record], file: str, text: str, line: int) -> list[tuple[str, float]]:
    """Tests with their seconds, those first that enter the function around a line of `file`."""
    around = {
        (file, min(part.lineno for part in (node, *node.decorator_list)))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    }
    ranked = sorted(records, key=lambda record: (not around & record.entered, record.seconds))
    return [(record.test, record.seconds) for record in ranked]


# ---- inside of pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if ORDER in os.environ:
        rank = {test: number for number, test in enumerate(_limits())}
        items.sort(key=lambda item: rank.get(item.nodeid, len(rank)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if RECORD in os.environ:
        yield from _recorded(item, Path(os.environ[RECORD]))
    else:
        faulthandler.dump_traceback_later(30 + 10 * _limits().get(item.nodeid, 60.0), exit=True)
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
        (code.co_filename.removeprefix(root), code.co_firstlineno)
        for code in entered
        if code.co_filename.startswith(root)
    ]
    with path.open("a") as file:
        print(json.dumps([item.nodeid, time.monotonic() - start, functions]), file=file)
