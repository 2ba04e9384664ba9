"""The same seed gives the same output, on a busy machine, in any order, with any limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from doeblin.programs.examples import example

HEAD = "extern unsigned unknown_uint(void); extern int unknown_int(void);\n"
PROGRAMS = {
    "cegar2.c": example("cegar2"),  # needs the search
    "nested.c": example("nested"),
    "growth.c": example("growth"),
    "fibonacci.c": HEAD
    + """int main() { unsigned a = 0, b = 1, i = 0, n = unknown_uint();
  while (i < n) { unsigned t = a + b; a = b; b = t; i++; assert(b >= a); } }""",
    "count.c": HEAD
    + "int main() { unsigned n = unknown_uint(), i = 0; while (i < n) i++; assert(i == n); }",
    "deep.c": HEAD
    + """int main() { int n = unknown_int(), i = 0, s = 0; assume(n >= 0 && n <= 100000);
  while (i < n) { s += 3; i++; } assert(s != 3 * 31337); }""",
    "branches.c": HEAD
    + """int main() { int f = unknown_int(), j = 2, k = 0; while (unknown_int()) { if (f) j += 4;
  else { j += 2; k++; } } if (k != 0) assert(j == 2 * k + 2); }""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("same")
    for name, text in PROGRAMS.items():
        (made / name).write_text(text)
    return made


def outputs(folder, *options, names=tuple(PROGRAMS), seed="1"):
    """Everything that is said of each file, except how long it took."""
    done = subprocess.run(
        [sys.executable, "-m", "doeblin", "verify", "--jsonl", *options, *names],
        cwd=folder,
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        del answer["seconds"], answer["search_seconds"]
        found[answer["file"]] = json.dumps(answer)
    assert found.keys() == set(names), done.stderr
    return found


@pytest.fixture(scope="module")
def first(folder):
    return outputs(folder, "--timeout", "100")


@pytest.mark.thorough
def test_all_are_decided(first):
    verdicts = {name: json.loads(answer)["verdict"] for name, answer in first.items()}
    assert set(verdicts.values()) == {"SAFE", "UNSAFE"}, verdicts


@pytest.mark.thorough
def test_busy_in_another_order_and_with_another_limit(folder, first):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        names = tuple(reversed(PROGRAMS))
        again = outputs(folder, "--timeout", "200", "--jobs", "2", names=names, seed="2")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert again == first


def test_in_company_and_alone(folder):
    """What one process has learned of a program does not show in what it says of the next."""
    after = outputs(folder, "--timeout", "100", names=("nested.c", "cegar2.c"))
    alone = outputs(folder, "--timeout", "200", names=("cegar2.c",), seed="3")
    assert {json.loads(answer)["verdict"] for answer in after.values()} == {"SAFE"}
    assert after["cegar2.c"] == alone["cegar2.c"]
