"""Compiled code on disk: an edit of any file it is made from compiles it anew."""

from __future__ import annotations

import os
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


def test_an_edit_of_what_a_kept_function_calls_is_not_overlooked(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_entry.py").write_text(ENTRY)
    program = (
        "from package._entry import entry\nprint(entry(), sum(entry.stats.cache_hits.values()))"
    )
    environment = os.environ | {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(doeblin.__file__).parents[1]}",
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    said = []
    for answer in (1, 1, 2):
        (package / "_helper.py").write_text(HELPER.format(answer=answer))
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        said.append(run.stdout.split())
    # Compiled, taken from the disk, and compiled anew.
    assert said == [["1", "0"], ["1", "1"], ["2", "0"]]


@pytest.mark.parametrize("folder", ["formulas", "gestures/decoder", "gestures/paper"])
def test_every_file_of_a_folder_counts(folder, tmp_path):
    original = Path(doeblin.__file__).parent / folder
    names = sorted(file.name for file in original.glob("*.py"))
    assert names
    seen = set()
    for edited in (None, *names):
        copy = tmp_path / f"copy-{edited}"
        copy.mkdir()
        for name in names:
            code = (original / name).read_bytes()
            (copy / name).write_bytes(code + b"#" if name == edited else code)
        seen.add(source_digest(copy))
    assert len(seen) == len(names) + 1


@pytest.mark.parametrize("folder", ["formulas", "gestures/decoder", "gestures/paper"])
def test_kept_functions_call_only_what_is_beside_them(folder):
    """Elsewhere an edit would be overlooked."""
    import importlib

    from numba.core.dispatcher import Dispatcher

    home = Path(doeblin.__file__).parent / folder
    package = "doeblin." + folder.replace("/", ".")
    found = 0
    for file in home.glob("_[a-z]*.py"):
        if "_numba import" not in file.read_text():
            continue
        for thing in vars(importlib.import_module(f"{package}.{file.stem}")).values():
            if isinstance(thing, Dispatcher):
                found += 1
                assert Path(thing.py_func.__code__.co_filename).parent == home
    assert found
