"""Documentation that runs: every Python block, every console command, every docstring example."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import jax
import pytest

import doeblin
from doeblin.cli import main

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


# Four seconds each and more, of what the tests of each package use as well. `make docs` executes
# the tutorials, `make gallery` makes its pictures, `make thorough` runs them all; here what they
# import must be there.
DEAR = {
    "docs/gallery.md",
    "docs/how-to/cluster.md",
    "docs/how-to/factor-graphs.md",
    "docs/how-to/formulas.md",
    "docs/how-to/gestures.md",
    "docs/how-to/label-sequences.md",
    "docs/how-to/scale.md",
    "docs/how-to/serve.md",
    "docs/reference/chains.md",
    "docs/reference/crf.md",
    "docs/reference/factors.md",
    "docs/reference/gestures.md",
    "docs/reference/kernels.md",
    "docs/reference/learning.md",
    "docs/tutorials/factor-graphs.md",
    "docs/tutorials/guaranteed-sampler.md",
    "docs/tutorials/learning.md",
    "docs/tutorials/swipe-decoder.md",
}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.thorough if name(page) in DEAR else (), id=name(page))
        for page in PAGES
        if blocks(page, "python")
    ],
)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One after the other, as a module of its own in a fresh folder.

    In this process, which has compiled much of it already, unless the page starts processes.
    """
    text = "\n".join(blocks(page, "python"))
    program = tmp_path / "page.py"
    program.write_text(text)
    monkeypatch.chdir(tmp_path)
    # JAX as a reader has it, who is not as strict as the other tests.
    monkeypatch.delenv("JAX_NUMPY_RANK_PROMOTION")
    if "__main__" in text:
        done = subprocess.run(
            [sys.executable, program], capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
    else:
        with warnings.catch_warnings(), jax.numpy_rank_promotion("allow"):
            runpy.run_path(str(program))


@pytest.mark.parametrize("page", sorted(DEAR))
def test_dear_pages_are_python_and_import_what_is_there(page: str):
    tree = ast.parse("\n".join(blocks(ROOT / page, "python")))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports
    exec(compile(ast.Module(imports, []), page, "exec"), {})


def shell(command: str) -> tuple[int, str]:
    """As a person types it: its status, and what it says."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def here(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """In this process, which has imported and compiled much of it already."""
    with pytest.raises(SystemExit) as stopped:
        main(words)
    return int(stopped.value.code or 0), "".join(capsys.readouterr())


# Six seconds each and more, where they are the first to compile; their like are in `tests/cli`.
DEAR_COMMANDS = {
    "docs/how-to/unknown.md",
    "docs/how-to/verify.md",
    "docs/tutorials/prove-arrays.md",
    "docs/tutorials/swipe-decoder.md",
}
# What is on several pages and leaves no file behind need not run twice.
SEEN: set[str] = set()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, marks=pytest.mark.thorough if name(page) in DEAR_COMMANDS else (), id=name(page)
        )
        for page in PAGES
        if commands(page)
    ],
)
def test_console_commands_run(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """One after the other, in a folder that holds the repository's examples.

    Those of the README, and what has a pipe, by a shell.
    """
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command in commands(page):
        if command in SEEN:
            continue
        before = set(tmp_path.iterdir())
        words = shlex.split(command)
        plain = words[0] == "doeblin" and "|" not in words and page.name != "README.md"
        status, said = here(words[1:], capsys) if plain else shell(command)
        assert status == 0, f"{command}\n{said}"
        if set(tmp_path.iterdir()) == before:
            SEEN.add(command)


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


def test_readme_points_to_no_file_on_a_package_index():
    """By the rules that the build applies, which leave out pictures and links to files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    text = (ROOT / "README.md").read_text()
    assert "](docs/" in text
    for rule in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert "](http" in text and re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    assert "Made by" not in text and "Steinhardt" in text and "## More" in text


# ---- the reference

PACKAGES = [
    "doeblin.chains",
    "doeblin.crf",
    "doeblin.factors",
    "doeblin.finite",
    "doeblin.formulas",
    "doeblin.gestures",
    "doeblin.gestures.data",
    "doeblin.gestures.decoder",
    "doeblin.gestures.paper",
    "doeblin.kernels",
    "doeblin.learning",
    "doeblin.programs",
    "doeblin.schedules",
    "doeblin.serve",
]


def documented() -> dict[str, dict[str, Path]]:
    """By package, the names of the reference and the page that has them."""
    found: dict[str, dict[str, Path]] = {}
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for package, members in re.findall(
            r"^::: ([\w.]+)\n    options:\n      members: \[([^\]]+)\]", page.read_text(), re.M
        ):
            names = found.setdefault(package, {})
            for member in members.split(", "):
                assert member not in names, f"{package}.{member} is in the reference twice"
                names[member] = page
    return found


def test_reference_has_every_public_name():
    pages = documented()
    assert set(pages) == {"doeblin", *PACKAGES}
    packages = {name for name in doeblin.__all__ if name in doeblin._MODULES}
    assert packages <= {package.split(".")[1] for package in PACKAGES}
    for package in PACKAGES:
        public = importlib.import_module(package).__all__
        assert set(pages[package]) == set(public), f"the reference's page on {package}"
    count = sum(len(names) for names in pages.values())
    assert count >= 180, count


@pytest.mark.thorough  # as `make docs` does
def test_documentation_builds(tmp_path: Path):
    """Without a warning, so that all links lead somewhere; examples are code, not quotations."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [page.read_text() for page in (tmp_path / "reference").rglob("*.html")]
    assert len(pages) > 10 and not any("<blockquote>" in page for page in pages)
    assert sum('<span class="gp">' in page for page in pages) > 5  # prompts in colour


def test_every_public_name_is_explained_and_used():
    """A docstring of its own, and a line of the page's example, which `test_python_blocks_run`."""
    import griffe

    source = griffe.load("doeblin", search_paths=[str(ROOT / "src")])
    for package, names in documented().items():
        for member, page in names.items():
            home = getattr(importlib.import_module(package), member)
            static = source[f"{package}.{member}".removeprefix("doeblin.")]
            try:
                explained = static.final_target.docstring if static.is_alias else static.docstring
            except griffe.AliasResolutionError:
                explained = home.__doc__
            assert explained, f"{package}.{member} has no docstring"
            used = re.search(rf"\b{member}\b", "\n".join(blocks(page, "python")))
            assert used, f"{package}.{member} is in no example of {name(page)}"


# ---- notebooks and the gallery


def test_tutorials_become_notebooks():
    """All their code is there, in order, and nothing else runs; `make docs` executes them."""
    import nbformat
    from docs.build import notebook

    tutorials = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    assert {page.stem for page in tutorials} >= {"learning", "prove-arrays", "swipe-decoder"}
    for page in tutorials:
        made = notebook(page)
        nbformat.validate(made)
        sources = [cell.source for cell in made.cells if cell.cell_type == "code"]
        python = [source for source in sources if not source.startswith("!")]
        assert python == [block.rstrip() for block in blocks(page, "python")]
        typed = [
            line[1:] for source in sources if source.startswith("!") for line in source.split("\n")
        ]
        assert [one for one in typed if not one.startswith(NOT_RUN)] == commands(page)


def test_pictures_of_the_gallery_are_there_and_small():
    page = ROOT / "docs" / "gallery.md"
    pictures = re.findall(r"\]\((assets/[^)]+)\)", page.read_text())
    made = re.findall(r'^save\("([^"]+)"\)', page.read_text(), re.M)
    assert {f"assets/gallery/{one}.svg" for one in made} <= set(pictures) and len(made) >= 4
    for picture in pictures:
        assert 1000 < (ROOT / "docs" / picture).stat().st_size < 200_000, picture


def test_metadata_agrees():
    """What several files say is one thing: version, licence, Pythons."""
    import tomllib

    import yaml

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == doeblin.__version__
    assert " AND ".join(citation["license"]) == project["license"]
    assert all((ROOT / file).is_file() for file in project["license-files"])
    assert "CC BY-SA" in (ROOT / project["license-files"][1]).read_text()
    for template in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.safe_load(template.read_text())
