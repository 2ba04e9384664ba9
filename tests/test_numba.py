"""Compiled code on disk: an edit of any file it is made from compiles it anew."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import doeblin
from doeblin._numba import source_digest

HELPER = """
from doeblin._numba import njit

@njit
def helper():
    return {answer}
"""
ENTRY = """
from doeblin._numba import kept
from ._helper import helper

@kept(about=1)
def entry():
    return helper()
"""


# Imported, it waits for a line: two are asked at once.
PROGRAM = """
from package._entry import entry
print("ready", flush=True)
input()
print(entry(), sum(entry.stats.cache_hits.values()))
"""


def asked(folder: Path, *, processes: int) -> list[list[str]]:
    """What so many processes say of `entry`, and whether they had it from the disk."""
    environment = os.environ | {
        "PYTHONPATH": f"{folder}{os.pathsep}{Path(doeblin.__file__).parents[1]}",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", PROGRAM]
    started = [subprocess.Popen(command, env=environment, **pipes) for _ in range(processes)]
    assert [one.stdout.readline() for one in started] == ["ready\n"] * processes
    for one in started:
        one.stdin.write("\n")
        one.stdin.flush()
    return [one.communicate()[0].split() for one in started]


def write(folder: Path, answer: int) -> None:
    package = folder / "package"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    (package / "_entry.py").write_text(ENTRY)
    (package / "_helper.py").write_text(HELPER.format(answer=answer))


def test_an_edit_of_what_a_kept_function_calls_is_not_overlooked(tmp_path):
    """And what two processes need at once is compiled by one of them."""
    write(tmp_path, 1)
    assert sorted(asked(tmp_path, processes=2)) == [["1", "0"], ["1", "1"]]
    assert asked(tmp_path, processes=1) == [["1", "1"]]
    write(tmp_path, 2)
    assert asked(tmp_path, processes=1) == [["2", "0"]]


HOME = Path(doeblin.__file__).parent


def entries() -> list[Path]:
    return [file for file in HOME.rglob("*.py") if "@kept(" in file.read_text()]


FIRST = set({file.relative_to(HOME).parts[0]: file for file in sorted(entries())}.values())


def callees(file: Path) -> set[Path]:
    """The files of all compiled functions that those of a file can call, by their globals."""
    from numba.core.dispatcher import Dispatcher

    name = ".".join(("doeblin", *file.relative_to(HOME).with_suffix("").parts))
    found, waiting = set(), [importlib.import_module(name)]
    while waiting:
        module = waiting.pop()
        if (path := Path(str(module.__file__))) in found:
            continue
        found.add(path)
        for thing in vars(module).values():
            if isinstance(thing, Dispatcher):
                waiting.append(sys.modules[thing.py_func.__module__])
    return found


@pytest.mark.parametrize(
    "entry",
    [
        # One of each package: the others are found in the same way.
        pytest.param(
            entry,
            id=str(entry.relative_to(HOME)),
            marks=() if entry in FIRST else pytest.mark.thorough,
        )
        for entry in entries()
    ],
)
def test_an_edit_of_any_compiled_function_changes_the_digest(entry, tmp_path):
    """Whatever folder it is in."""
    copy = tmp_path / "doeblin"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__", "*.safetensors"))
    place = copy / entry.relative_to(HOME)
    before = source_digest(place)
    source_digest.cache_clear()
    assert source_digest(place) == before
    for file in callees(entry):
        edited = copy / file.relative_to(HOME)
        code = edited.read_bytes()
        edited.write_bytes(code + b"#")
        source_digest.cache_clear()
        assert source_digest(place) != before, file
        edited.write_bytes(code)
    (copy / "serve" / "_api.py").write_text("")
    source_digest.cache_clear()
    assert source_digest(place) == before
