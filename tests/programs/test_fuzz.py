"""Random programs against referees that share no code with doeblin. `make fuzz` does many more."""

import re
import subprocess
import sys

import pytest
from pycparser import c_ast, c_parser

from .fuzz import clause_variants
from .fuzz.campaign import judge, own_files
from .fuzz.clauses import LANGUAGES, judge_clauses
from .fuzz.grammar import Generator
from .fuzz.metamorphic import opposite, same_truth
from .fuzz.premises import judge_premises
from .fuzz.referee import compilers
from .fuzz.render import render
from .fuzz.variants import Referee, campaign, variants


def seeds(first: int, last: int) -> pytest.MarkDecorator:
    """The first of them in `make test`, the others in `make thorough`."""
    thorough = pytest.param(range(first, last), marks=pytest.mark.thorough)
    return pytest.mark.parametrize("seeds", [range(first), thorough], ids=str)


compiled = pytest.mark.skipif("gcc" not in compilers(), reason="the truth comes from gcc")


@compiled
@seeds(20, 36)
def test_verdicts_agree_with_compilers(seeds):
    total = judge(seeds, timeout=0.5, levels=["-O2"])
    assert not total.wrong
    assert total.outcomes["SAFE"] >= 4 and total.outcomes["UNSAFE"] >= 4, total.outcomes
    assert total.outcomes["compilers differ"] == 0


# Kinds of nodes that are not drawn: not modelled, or C23, or written by hand in the corpus.
NOT_DRAWN = (
    r"Align|Array(Designator|Ref)|Attribute|BitInt|CompoundLiteral|Ellipsis|Inferred|Named|Pragma|StructRef|"
    r"TypeOf|Union"
)
OPERATORS = (
    r"+ - * / % & | ^ << >> < <= > >= == != && || = += -= *= /= %= &= |= ^= <<= >>= "
    r"! ~ ++ -- p++ p-- sizeof"
)


@pytest.mark.thorough
@compiled
def test_every_construct_is_drawn(tmp_path):
    """The catalogue is the parser's: all kinds of nodes but those named above, all operators."""
    programs = [Generator(seed).program() for seed in range(250)]
    for name, header in own_files(programs).items():
        (tmp_path / name).write_text(header)
    text = "".join(render(program, ranges={}) for program in programs)
    text = re.sub(r"#include <\w+.h>|__attribute__\(\(\w+\)\)", "", text)
    command = ["gcc", "-E", "-P", "-I", str(tmp_path), "-"]
    plain = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    plain = re.sub(r"#pragma.*", "", plain)
    plain = re.sub(r"__extension__ \(\{.*\}\)", "0", plain)  # glibc's assert is no standard C
    kinds, operators = set(), set()
    todo = [c_parser.CParser().parse(plain)]
    while todo:
        node = todo.pop()
        kinds.add(type(node).__name__)
        operators.add(getattr(node, "op", None))
        todo += [child for _, child in node.children()]
    all_kinds = {
        name
        for name, kind in vars(c_ast).items()
        if isinstance(kind, type) and issubclass(kind, c_ast.Node) and kind is not c_ast.Node
    }
    assert [kind for kind in all_kinds - kinds if not re.match(NOT_DRAWN, kind)] == []
    assert operators >= set(OPERATORS.split())


@compiled
def test_what_is_reached_is_reported():
    command = [sys.executable, "-m", "tests.programs.fuzz.reach", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    reached = re.search(r"8 programs reach ([\d.]+)% of the lines", done.stdout)
    assert reached and float(reached[1]) > 75 and "_statements.py" in done.stdout


def test_rewritings_mean_the_same(tmp_path):
    assert same_truth(range(300, 306), tmp_path) == []


@compiled
def test_no_rewriting_turns_a_verdict_around():
    wrong, pairs = opposite(range(402, 404), timeout=1)
    assert not wrong
    assert pairs >= 12


@seeds(20, 36)
def test_clauses_agree_with_enumeration(seeds):
    tally = judge_clauses(seeds, timeout=0.4)
    assert not tally.wrong
    decided = sum(tally.outcomes[f"{k} {v}"] for k in LANGUAGES for v in ("SAFE", "UNSAFE"))
    assert decided >= 10 and tally.outcomes["mutant refused"] >= 10, tally.outcomes


@seeds(6, 12)
def test_clauses_with_arrays_and_several_premises(seeds):
    tally = judge_premises(seeds, timeout=0.5)
    assert not tally.wrong
    decided = tally.outcomes["SAFE"] + tally.outcomes["UNSAFE"]
    assert decided >= 3 or 0 not in seeds, tally.outcomes  # the others take longer


COPY = """extern int unknown(void);
int main(void) {
  int n = unknown(), s; if (n < 1) return 0;
  int a[n], i; s = 0;
  for (i = 0; i < n; i++) a[i] = i;
  for (i = 0; i < n; i++) s = s + a[i] - i;
  assert(s == 0);
}
"""


@compiled
def test_false_variants_are_false_and_not_proved(tmp_path):
    referee = Referee(tmp_path)
    assert referee.failing_runs(COPY) == 0
    failing = {name: referee.failing_runs(text) for name, text in variants(COPY)}
    assert [name for name, count in failing.items() if count] == [
        "claim + 1", "claim - 1", "end of loop 0", "end of loop 1", "start 0",
    ]  # fmt: skip
    file = tmp_path / "copy.c"
    file.write_text(COPY)
    wrong, counts, _ = campaign([file], timeout=20, most=5)
    assert not wrong and counts["false: UNSAFE"] == 5, counts


COUNTED = """(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (P x y))))
(assert (forall ((x Int) (y Int))
  (let ((next (+ y 2))) (=> (P x y) (=> (< x 5) (P (+ x 1) next))))))
(assert (forall ((x Int) (y Int)) (not (and (P x y) (> y 10)))))
(check-sat)
"""


def test_false_variants_of_clauses_are_not_proved(tmp_path):
    file = tmp_path / "counted.smt2"
    file.write_text(COUNTED)
    changes = dict(clause_variants.variants(clause_variants.plain(COUNTED)))
    assert len(changes) == 12 and COUNTED not in changes.values()
    tally = clause_variants.campaign([file], timeout=2, most=12)
    assert not tally.wrong
    # By hand: x ends at 5 and y at 10.
    assert tally.outcomes["false: UNSAFE"] == tally.outcomes["Spacer unsat"] == 8, tally.outcomes
    assert tally.outcomes["SAFE"] == 4
