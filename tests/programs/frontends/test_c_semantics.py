"""docs/c-semantics.md, line by line: small programs, each about one clause of C.

They are in `c_semantics.txt`, after lines `//// name: OUTCOME part of the reason`. A program that
is decided and reads no input is compiled and run, too: the compiler has the last word.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from doeblin._errors import InputError
from doeblin.programs import parse_program, verify
from doeblin.programs.frontends.c import _library

from ..fuzz.units import build

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/c-semantics.md").read_text()
GCC, OBJCOPY = shutil.which("gcc"), shutil.which("objcopy")
LINKER = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []  # in half the time


class Example(NamedTuple):
    outcome: str  # SAFE, UNSAFE, UNKNOWN, or ERROR for what is no C
    reason: str  # a part of it
    text: str


def _read() -> dict[str, Example]:
    found = {}
    text = (Path(__file__).with_name("c_semantics.txt")).read_text()
    for part in text.split("//// ")[1:]:
        head, _, body = part.partition("\n")
        name, _, said = head.partition(": ")
        outcome, _, reason = said.partition(" ")
        assert name not in found
        found[name] = Example(outcome, reason, body)
    return found


EXAMPLES = _read()
# Their outcome is not the compiled program's: inputs, missing bodies, or our own conventions.
NOT_COMPILED = re.compile(
    r"unknown|nondet|getchar|rand\(|__VERIFIER|reach_error|ERROR|int f\(int\);|extern_only|die\("
    r"|__builtin_(trap|unreachable)|abort|define assert|void assert|NDEBUG|goto L; \{ int x"
)
NOT_RUN = {
    "uninitialised",
    "float_uninitialised",
    "float_given_to_integer_beyond",
    "fall_off",
    "fall_off_comma",
    "fall_off_generic",
    "no_body_static_else",
    "fall_off_struct",
    "fall_off_struct_given",
    "fall_off_pointer",
    "return_nothing",
    "recursion_returns_nothing",
    "extern_only",
    "signed_overflow_assumed",
    "own_exit_returns",
    "recursion_contract",
    "recursion_no_value",
    "array_parameter_bounds",  # gcc checks no pointers
    "array_given",
    "array_given_bounds",
    "array_given_unknown_length",
    "ptr_given",
    # What gcc's sanitizers do not see: they look at pointers when these are followed.
    "ptr_without_value",
    "ptr_without_value_compared",
    "ptr_leaves",
    "ptr_leaves_below",
    "ptr_different_objects",
    "ptr_members_of_two",
    "ptr_members_subtracted",
    "struct_member_beyond",
    "struct_uninitialised",
    "heap_free_without_value",
    "heap_leaves",
    "heap_different_objects",
    "heap_compared_after_free",
    "heap_uninitialised",
    "heap_declared",  # what is a macro in FAILING
}
PRELUDE = """
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#undef assert
#define assert(c) ((c) ? (void) 0 : (puts("failed"), exit(0)))
"""
# What is allocated first and second fails where a bit says so.
FAILING = """
static int tried;
static int fails(void) { return atoi(getenv("FAILING")) >> tried++ & 1; }
#define malloc(n) (fails() ? 0 : malloc(n))
#define calloc(n, m) (fails() ? 0 : calloc(n, m))
"""


# Each of `all` in a process of its own, in `WAYS`: a line for each, with a 1 for what fails.
START = """
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  for (int n = 0; n < (int)(sizeof all / sizeof *all); n++, puts(""))
  for (int way = 0; way < WAYS; way++) {
    int ends[2], status, length = 0, more;
    char said[4096] = "", bits[] = {'0' + way, 0};
    if (pipe(ends)) return 1;
    fflush(stdout);
    if (!fork()) {
      setenv("FAILING", bits, 1), alarm(20), dup2(ends[1], 1), close(ends[0]), close(ends[1]);
      exit(all[n](1, (char *[]){"program", 0}));
    }
    close(ends[1]);
    while ((more = read(ends[0], said + length, sizeof said - 1 - length)) > 0) length += more;
    close(ends[0]), wait(&status);
    printf("%d", status != 0 || strstr(said, "failed") != 0);
  }
}
"""


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    example = EXAMPLES[name]
    try:
        verdict = verify(parse_program(example.text, file="p.c"), timeout=60)
        outcome, reason = verdict.outcome.value, verdict.reason
    except InputError as error:
        outcome, reason = "ERROR", str(error)
    assert (outcome, example.reason in reason) == (example.outcome, True), reason
    if outcome == "UNKNOWN" and "nothing" not in reason:
        assert re.search(r"p\.c:\d+:\d+", reason)


def _flags(folder: Path, name: str) -> list[str]:
    """What an example is compiled with."""
    checks = "integer-divide-by-zero,shift,bounds-strict,vla-bound"
    checks += ",address,null" if name.startswith(("ptr_", "struct_", "heap_")) else ""
    checks += ",float-cast-overflow" if name.startswith("float_") else ""
    flags = ["-std=gnu17", "-w", "-O0", "-fsigned-char"]
    flags += [f"-fsanitize={checks}", "-fsanitize-undefined-trap-on-error"]
    flags += ["-include", str(folder / "prelude.h")]
    if name.startswith("heap_"):
        return [*flags, "-DWAYS=4", "-include", str(folder / "failing.h")]
    return [*flags, "-DWAYS=1"]


@pytest.mark.skipif(not (GCC and OBJCOPY), reason="the truth comes from gcc, which is not here")
def test_the_compiler_agrees(tmp_path):
    names = [
        name
        for name, example in EXAMPLES.items()
        if example.outcome in ("SAFE", "UNSAFE")
        and name not in NOT_RUN
        and not NOT_COMPILED.search(example.text)
    ]
    assert len(names) > 140
    (tmp_path / "prelude.h").write_text(PRELUDE)
    (tmp_path / "failing.h").write_text(FAILING)
    # No clause forbids to leak, or to ask for too much.
    leaking = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    by_flags: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        by_flags.setdefault(tuple(_flags(tmp_path, name)), []).append(name)
    failed: dict[str, bool] = {}
    for number, (flags, alike) in enumerate(by_flags.items()):
        program = _together(tmp_path / f"all{number}", alike, flags)
        run = subprocess.run(program, capture_output=True, text=True, env=leaking, check=True)
        failed |= zip(alike, ("1" in line for line in run.stdout.splitlines()), strict=True)
    assert failed == {name: EXAMPLES[name].outcome == "UNSAFE" for name in names}


def _together(folder: Path, names: list[str], flags: tuple[str, ...]) -> Path:
    """Examples linked once: of their names none knows of another's."""
    folder.mkdir()
    program, start = folder / "all", folder / "start.c"

    def compile_(source: Path, target: Path) -> str:
        command = [GCC, *flags, "-c", "-o", target, source]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    texts = [EXAMPLES[name].text for name in names]
    whole = [n for n, text in enumerate(texts) if not re.search(r"return[^;{}]*;\s*\}\s*$", text)]
    objects = build(texts, folder, compile_, PRELUDE, whole)
    mains = [f"main_{n}" for n in range(len(names))]
    start.write_text(
        "".join(f"int {main}();\n" for main in mains)
        + f"int (*all[])() = {{{', '.join(mains)}}};\n{START}"
    )
    subprocess.run([GCC, *flags, *LINKER, "-o", program, start, *objects, "-lm"], check=True)
    return program


def _tests_on_the_page() -> list[str]:
    """What stands in the last column of the tables."""
    rows = re.findall(r"^\|.*\|([^|]*)\|$", PAGE, re.MULTILINE)
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


def test_every_test_on_the_page_exists():
    folder = Path(__file__).parents[1]
    for word in _tests_on_the_page():
        if word in EXAMPLES or (folder / "corpus" / f"{word}.c").exists():
            continue
        file, _, function = word.partition("::")
        text = (folder / file).read_text()
        assert f"def {function}(" in text, word


def test_every_example_is_on_the_page():
    assert set(EXAMPLES) <= set(_tests_on_the_page())


def test_the_table_of_the_library_is_whole():
    """Every function that is modelled is on the page, and no other in that table."""
    section = PAGE.partition("## The library")[2].partition("\n## ")[0]
    first = re.findall(r"^\| ([^|]*) \|", section, re.MULTILINE)
    shown = {word for cell in first for word in re.findall(r"`(\w+)`", cell)}
    hidden = {_library.ASSERT_MACRO, _library.VIOLATION}
    assert shown == _library.MODELLED - hidden
