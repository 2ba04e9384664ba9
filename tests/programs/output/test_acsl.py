"""Annotated sources: where the annotations stand, and that Frama-C proves them."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.examples import PAPER, example
from doeblin.programs.output import acsl


def has_frama_c() -> bool:
    """Is there a Frama-C whose Why3 knows Z3 (after `why3 config detect`)?"""
    if not (shutil.which("frama-c") and shutil.which("why3")):
        return False
    known = subprocess.run(["why3", "config", "list-provers"], capture_output=True, text=True)
    return "Z3" in known.stdout


ASSUMING = """extern int unknown(void); extern void assume(int c);
int main() { int n = unknown(), i = 0;
  assume(n > 0); /* assume( */ if (n < 5) assume(n != 3);
  while (i < n) i++;
  assert(
     i == (n));
  if (i < 4) { assert(i > 0); assert(n != 3); } else assert(i++ > 3);
}
"""

FAILING = """extern void reach_error(void);
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: reach_error(); } }
int main() { int x = 0;
  while (x < 10) { x++; if (x > 10) goto ERROR; }
  __VERIFIER_assert(x == 10);
  if (x != 10) reach_error();
  return 0;
  ERROR: return 1;
}
"""


def annotated(text: str) -> str:
    program = parse_program(text, file="p.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.SAFE
    return acsl(program, verdict)


def test_assertions_and_assumptions_are_annotated_where_a_statement_begins():
    text = annotated(ASSUMING)
    found = re.findall(r"/\*@ (admit|assert) (.*?); \*/\s*(\w+)", text)
    assert found == [
        ("admit", "n > 0", "assume"),
        ("admit", "n != 3", "assume"),
        ("assert", "i == (n)", "assert"),
        ("assert", "i > 0", "assert"),
        ("assert", "n != 3", "assert"),  # and none with a side effect
    ]
    assert (
        re.sub(r"/\*@.*?\*/\s*", "", text).split()
        == (text.splitlines()[0] + "\n" + ASSUMING).split()
    )


def test_what_must_not_be_reached_is_annotated():
    text = annotated(FAILING)
    found = re.findall(r"(.*)/\*@ assert (.*?); \*/\s*(\w+)", text)
    assert [(before.strip(), claim, word) for before, claim, word in found] == [
        ("", "x == 10", "__VERIFIER_assert"),
        ("if (x != 10)", "\\false", "reach_error"),
        ("ERROR:", "\\false", "return"),
    ]


@pytest.mark.skipif(not has_frama_c(), reason="proves our annotations with Frama-C where it is")
@pytest.mark.parametrize(
    "text", [*map(example, PAPER), ASSUMING.replace("i++ > 3", "i > 3"), FAILING]
)
def test_frama_c_proves_the_annotations(tmp_path, text):
    (tmp_path / "p.c").write_text(annotated(text))
    command = ["frama-c", "-wp", "-wp-prover", "z3", "-wp-timeout", "30", tmp_path / "p.c"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    proved = re.search(r"Proved goals:\s+(\d+) / (\d+)", run.stdout)
    assert proved is not None, run.stdout
    assert int(proved[2]) >= 4 and proved[1] == proved[2], run.stdout
