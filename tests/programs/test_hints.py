"""Hints: what C means is what is tried."""

from __future__ import annotations

import itertools

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, parse_program, verify
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
