"""Hints: what C means is what is tried."""

from __future__ import annotations

import itertools

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, Program, parse_program, verify
from doeblin.programs._hints import parse_hints

PROGRAM = parse_program(
    "int main() { int x = unknown(), y = unknown(); while (x > y) x--; assert(x <= y); }"
)


def remainder(a: int, b: int) -> int:
    """As C has it: of the sign of what is divided."""
    return a % b if a >= 0 else -(-a % b)


@pytest.mark.parametrize("modulus", [2, 3, 5])
@pytest.mark.parametrize("negated", ["", "!"])
def test_remainders_have_the_sign_of_what_is_divided(modulus, negated):
    for rest, offset in itertools.product(range(1 - modulus, modulus), (-1, 0, 2)):
        text = f"{negated}((x - 2*y + {offset}) % {modulus} == {rest})"
        ((dnf,),) = parse_hints(PROGRAM, [text], PROGRAM.system)
        names = PROGRAM.system.cuts[0].variables
        for x, y in itertools.product(range(-9, 10), range(-3, 4)):
            point = [{"x": x, "y": y}[name] for name in names]
            wanted = (remainder(x - 2 * y + offset, modulus) == rest) != bool(negated)
            assert any(all(atom.holds(point) for atom in cube) for cube in dnf) == wanted


def test_many_cases_are_fine_and_too_many_are_refused():
    cases = [f"(x == {k} && y == {-k})" for k in range(33)]
    ((dnf,),) = parse_hints(PROGRAM, [" || ".join(cases[:32])], PROGRAM.system)
    assert len(dnf) == 32
    with pytest.raises(InputError, match=r"at most 32 cases.*several hints"):
        parse_hints(PROGRAM, [" || ".join(cases)], PROGRAM.system)
    with pytest.raises(InputError, match="linear"):
        parse_hints(PROGRAM, ["x * y == 4"], PROGRAM.system)


def test_a_wrong_hint_does_no_harm():
    assert verify(PROGRAM, hints=["x == 7", "x % 3 == 1"]).outcome is Outcome.SAFE


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("x = 5", r"--hint:1:3: .*changes a variable \('='\).*'x == 5'"),
        ("x <= 4 && y =3", r"--hint:1:13: .*'x <= 4 && y ==3'"),
        ("x++ < 5", r"--hint:1:2: .*'\+\+'"),
        ("x -= 1", r"--hint:1:3: .*'-='"),
        ("x < 5, y < 5", "not a C condition"),
        ("x <", "not a C condition"),
        ("", "not a C condition"),
        ("(" * 3000 + "1" + ")" * 3000, "6001 words is too long"),
        ("!" * 5000 + "x", "too long"),
    ],
)
def test_what_is_no_condition_is_refused(hint, said):
    """Also of a program that needs no hint."""
    for program in (PROGRAM, parse_program("int main() { assert(1 < 2); }")):
        with pytest.raises(InputError, match=said):
            verify(program, hints=[hint])


@pytest.mark.parametrize("hint", ["1", "1 == 1", "sizeof(x)", "0"])
def test_hints_that_say_nothing(hint):
    assert verify(PROGRAM, timeout=10, hints=[hint]).outcome is Outcome.SAFE


SEVENS = """int main(void) {
  int n = unknown(), a[50], b[50];
  assume(0 <= n && n <= 50);
  @1@
  for (int i = 0; i < n; i++) { int x = unknown(); assume(0 <= x && x < 99); a[i] = 7 * x; }
  @2@
  for (int j = 0; j < n; j++) b[j] = 3 * a[j];
  for (int l = 0; l < n; l++) assert(b[l] % 21 == 0);
}
"""
WRITTEN = "\\forall integer k; 0 <= k < i ==> a[k] % 7 == 0"
COPIED = "\\forall integer k; 0 <= k < n ==> a[k] % 7 == 0"


def plain(text: str) -> Program:
    return parse_program(text.replace("@1@", "").replace("@2@", ""))


def test_what_holds_of_all_cells_may_be_said():
    assert verify(plain(SEVENS), timeout=2).outcome is Outcome.UNKNOWN
    assert verify(plain(SEVENS), hints=[WRITTEN, COPIED], timeout=60).outcome is Outcome.SAFE


def test_what_the_program_says_of_all_cells_is_tried():
    annotated = SEVENS.replace("@1@", f"//@ loop invariant {WRITTEN};")
    annotated = annotated.replace("@2@", f"//@ loop invariant {COPIED} && 0 <= j;")
    program = parse_program(annotated)
    assert program.graph is not None and not program.graph.remarks.notes
    assert verify(program, timeout=60).outcome is Outcome.SAFE


@pytest.mark.parametrize("hint", [WRITTEN, COPIED, "\\forall integer k; b[k] == 21"])
def test_a_wrong_hint_about_cells_proves_nothing(hint):
    wrong = SEVENS.replace("7 * x", "7 * x + x / 98")
    assert verify(plain(wrong), hints=[hint], timeout=5).outcome is not Outcome.SAFE


@pytest.mark.parametrize(
    ("hint", "meant"),
    [
        (
            "\\forall integer k; 0 <= k < i ==> a[k] <= 2 * n - k",
            lambda k, a, i, n: not 0 <= k < i or a <= 2 * n - k,
        ),
        (
            "i <= n && (\\forall int z; z >= i ==> a[z] != 3)",
            lambda k, a, i, n: i <= n and (k < i or a != 3),
        ),
        (
            "n > 3 ==> \\forall integer k; a[k] == k ==> k < 2",
            lambda k, a, i, n: n <= 3 or a != k or k < 2,
        ),
        ("\\forall integer i; i < n ==> a[i] > i", lambda k, a, i, n: k >= n or a > k),
    ],
)
def test_hints_about_cells_mean_what_they_say(hint, meant):
    """The bound variable may hide one of the program."""
    program = plain(SEVENS)
    found = [dnf for dnfs in parse_hints(program, [hint], program.system)[:1] for dnf in dnfs]
    (dnf,) = found
    cut = program.system.cuts[0]
    for k, a, i, n in itertools.product((-1, 0, 1, 2, 4), (-2, 1, 2, 3, 9), (0, 1, 3), (0, 2, 5)):
        known = {"k": k, "a[k]": a, "i": i, "n": n}
        point = [known.get(name, 77) for name in cut.shown]
        assert any(all(x.holds(point) for x in cube) for cube in dnf) == meant(k, a, i, n)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("\\forall integer k; c[k] == 0", r"fits no loop of .*variables there: .*a\[k\]"),
        ("\\forall integer k; a[k + 17] == 0", "fits no loop"),
        ("\\forall integer k, m; k < m ==> a[k] <= a[m]", r"two indices at a time.*a\[k \+ 1\]"),
        ("\\forall integer k; a[k] = 0", r"--hint:1:25: .*changes a variable"),
        ("\\forall integer k a[k] == 0", "not understood"),
        ("\\forall integer k; a[k][0] == 0", "not understood"),
        ("\\forall", "not understood"),
        ("a[", "not understood"),
    ],
)
def test_bad_hints_about_cells(hint, said):
    with pytest.raises(InputError, match=said):
        verify(plain(SEVENS), hints=[hint])


def test_one_cell_may_be_spoken_of():
    program = plain(SEVENS)
    assert any(parse_hints(program, ["a[i] >= 0 || i >= 0"], program.system))


def test_a_loop_invariant_may_be_about_what_a_pointer_points_to():
    text = """#include <stdlib.h>
    int main(void) { int n = unknown(); assume(0 < n && n < 100); int *a = malloc(n * sizeof(int));
      if (!a) return 0;
      //@ loop invariant \\forall integer k; 0 <= k < i ==> a[k] % 7 == 3;
      for (int i = 0; i < n; i++) a[i] = 7 * i + 3;
      free(a); return 0; }"""
    program = parse_program(text)
    assert program.graph is not None and not program.graph.remarks.notes
    assert any(loop.hints for loop in program.graph.loops.values())
