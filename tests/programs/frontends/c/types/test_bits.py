"""Bit operations in terms of div and mod, held against those of Python."""

import operator
import random

import pytest

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.frontends.c.types import bitwise, interval, shifted
from doeblin.programs.system.terms import add, as_int, const, divide, evaluate, mul, var

OPERATORS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
RANGES = [(0, 1), (0, 5), (-4, 3), (-3, 9), (-9, -1)]


@pytest.mark.parametrize("op", OPERATORS)
def test_every_pair_in_small_ranges(op):
    for first in RANGES:
        for second in RANGES:
            term = as_int(bitwise(op, var("a"), var("b"), (first, second)))
            for a in range(first[0], first[1] + 1):
                for b in range(second[0], second[1] + 1):
                    assert evaluate(term, {"a": a, "b": b}) == OPERATORS[op](a, b)


@pytest.mark.parametrize("op", OPERATORS)
def test_constants_on_either_side(op):
    for bounds in RANGES:
        for mask in range(-20, 20):
            own = (mask, mask)
            right = as_int(bitwise(op, var("a"), const(mask), (bounds, own)))
            left = as_int(bitwise(op, const(mask), var("a"), (own, bounds)))
            for a in range(bounds[0], bounds[1] + 1):
                wanted = OPERATORS[op](a, mask)
                assert evaluate(right, {"a": a}) == evaluate(left, {"a": a}) == wanted


@pytest.mark.parametrize("bits, signed", [(32, True), (32, False), (64, True), (64, False)])
def test_wide_numbers(bits, signed):
    low = -(1 << (bits - 1)) if signed else 0
    high = low + (1 << bits) - 1
    rng = random.Random(bits)
    edges = [low, low + 1, high, high - 1, 0 if signed else 1, high // 3]
    terms = {op: bitwise(op, var("a"), var("b"), ((low, high),) * 2) for op in OPERATORS}
    for _ in range(40):
        a, b = (rng.choice((*edges, rng.randint(low, high))) for _ in range(2))
        for op, term in terms.items():
            assert evaluate(term, {"a": a, "b": b}) == OPERATORS[op](a, b)


def test_what_is_shifted_into_free_bits_is_added():
    high, low = mul(const(16), var("a")), divide("mod", var("b"), const(16))
    for op in OPERATORS:
        term = as_int(bitwise(op, high, low, ((-80, 80), (0, 15))))
        for a in range(-5, 6):
            for b in range(-20, 20):
                wanted = OPERATORS[op](16 * a, b % 16)
                assert evaluate(term, {"a": a, "b": b}) == wanted
    both = bitwise("&", high, low, ((-80, 80), (0, 15)))
    assert both.constant and both.leaf == 0


def test_shifts_by_variables():
    for low, high in ((0, 6), (2, 4), (3, 3)):
        left, right = (shifted(op, var("a"), var("n"), (low, high)) for op in ("<<", ">>"))
        for a in range(-20, 20):
            for n in range(low, high + 1):
                assert evaluate(left, {"a": a, "n": n}) == a << n
                assert evaluate(right, {"a": a, "n": n}) == a >> n


def test_intervals():
    known = {"a": (-5, 9), "b": (0, 3)}.__getitem__
    outside = (-100, 100)
    assert interval(var("a"), known, outside) == (-5, 9)
    assert interval(divide("mod", var("a"), const(4)), known, outside) == (0, 3)
    assert interval(divide("mod", var("b"), const(8)), known, outside) == (0, 3)
    assert interval(divide("div", var("a"), const(2)), known, outside) == (-3, 4)
    assert interval(add(var("a"), var("b")), known, outside) == outside


PARITY = """
int unknown(void);
int main(void) {
  int n = unknown(), even = 1, i;
  if (n < 0) return 0;
  for (i = 0; i < n; i++) even ^= 1;
  assert(even == !(n & 1));
}
"""
FLAGS = """
int unknown(void);
int main(void) {
  int n = unknown(), i;
  unsigned flags = 0;
  for (i = 0; i < n; i++) {
    flags |= 1u << (i & 3);
    assert((flags & ~15u) == 0);
  }
}
"""


@pytest.mark.parametrize("text", [PARITY, FLAGS])
def test_loops_are_proved(text):
    assert verify(parse_program(text, file="p.c"), timeout=20).outcome is Outcome.SAFE


@pytest.mark.parametrize("text", [PARITY.replace("!(n", "(n"), FLAGS.replace("~15u", "~7u")])
def test_wrong_masks_are_found(text):
    verdict = verify(parse_program(text, file="p.c"), timeout=20)
    assert verdict.outcome is Outcome.UNSAFE
