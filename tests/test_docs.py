"""Documentation that runs: every Python block, every console command, every docstring example."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import doeblin

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What a newcomer types once, and `make` targets, are not for a test to run.
NOT_RUN = ("pip ", "make ", "git ", "doeblin serve")


def blocks(page: Path, language: str) -> list[str]:
    found = re.finditer(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [match[1] for match in found]


def commands(page: Path) -> list[str]:
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    typed = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [command for command in typed if not command.startswith(NOT_RUN)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name)
def test_python_blocks_run(page: Path, tmp_path: Path):
    """One after the other, in a fresh process and folder."""
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks(page, "python")))
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name)
def test_console_commands_run(page: Path, tmp_path: Path):
    """One after the other, in a folder that holds the repository's examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands(page):
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_tests_that_the_pages_point_to_exist():
    """`tests/FILE.py`, `tests/FILE.py::NAME`, or `NAME` alone for a test of the file named last."""
    pointers = 0
    for page in PAGES:
        file = ROOT
        for path, test in re.findall(r"`(tests/[\w/]+\.py)?:{0,2}(\btest_\w+)?`", page.read_text()):
            if path or test:
                file = ROOT / path if path else file
                assert file.is_file(), f"{name(page)} points to {path or test}"
                assert f"def {test}" in file.read_text(), f"{name(page)}: no {test} in {path}"
                pointers += 1
    assert pointers > 10


def modules() -> list[str]:
    found = pkgutil.walk_packages(doeblin.__path__, "doeblin.")
    return [module.name for module in found]


def test_docstring_examples_run():
    tried = 0
    for module_name in modules():
        failed, count = doctest.testmod(importlib.import_module(module_name))
        assert not failed, f"a docstring example of {module_name} fails (see above)"
        tried += count
    assert tried > 0
