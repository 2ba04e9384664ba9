"""Floating point by its keys, against exact fractions, the C compiler's own cast, and Z3."""

import ctypes
import itertools
import math
import random
from fractions import Fraction

import pytest
import z3

from doeblin._errors import Place
from doeblin.programs.solve import eased
from doeblin.programs.system._conversions import without_conversions
from doeblin.programs.system._system import Clause, Cut, Premise, System
from doeblin.programs.system.terms import (
    INFINITE,
    LOWEST,
    NAN,
    TRUE,
    Translator,
    compare,
    conj,
    const,
    evaluate,
    float_constant,
    float_text,
    float_value,
    floating,
    formats,
    ite,
    key_of,
    model_value,
    number_of,
    renamed,
    rounded,
    substitute,
    var,
)

NUMBERS = (0.1, 1.0, 3.0, 1e10, 2.5, 1e-40, 7.0, 1e300, 0.5, 1e-310, 3.4e38, 1.1754943508222875e-38)


def draw(rng: random.Random, bits: int) -> int:
    choice = rng.random()
    if choice < 0.2:
        far = INFINITE[bits]
        return rng.choice((0, -1, 1, -2, far, far - 1, -1 - far, -far, NAN[bits]))
    if choice < 0.75:
        return key_of(rng.choice(NUMBERS) * rng.randint(-5, 5), bits)
    return rng.randint(LOWEST[bits], NAN[bits])


def exactly(op: str, bits: int, a: float, b: float) -> int | None:
    """The result by fractions; None where an operand is not finite, or a zero's sign matters."""
    if not (math.isfinite(a) and math.isfinite(b)) or (op == "f/" and b == 0):
        return None
    x, y = Fraction(a), Fraction(b)
    value = {"f+": x + y, "f-": x - y, "f*": x * y}[op] if op != "f/" else x / y
    return rounded(value, bits) if value else None


@pytest.mark.parametrize("bits", [32, 64])
def test_operations_round_the_exact_result_once(bits):
    rng, looked = random.Random(bits), 0
    for _ in range(1500):
        op, a, b = rng.choice(("f+", "f-", "f*", "f/")), draw(rng, bits), draw(rng, bits)
        wanted = exactly(op, bits, number_of(a, bits), number_of(b, bits))
        if wanted is not None:
            looked += 1
            assert float_value(op, bits, [a, b]) == wanted, (op, a, b)
    assert looked > 700


def test_rounding_agrees_with_the_machine():
    rng = random.Random(3)
    for _ in range(1500):
        value = rng.choice((rng.random(), 1.0, rng.getrandbits(60))) * 10.0 ** rng.randint(
            -320, 250
        )
        assert rounded(Fraction(value), 64) == key_of(value, 64)
        single = ctypes.c_float(value).value
        key = rounded(Fraction(value), 32)
        assert number_of(key, 32) == single and key_of(value, 32) == key
        assert float_value("fof", 64, [int(value)]) == key_of(float(int(value)), 64)
    assert number_of(rounded(Fraction(16777217), 32), 32) == 16777216
    assert float_value("fof", 32, [9007199791611905]) == rounded(Fraction(9007199791611905), 32)


@pytest.mark.parametrize("bits", [32, 64])
def test_keys_are_in_order_and_back(bits):
    rng = random.Random(bits)
    keys = sorted({draw(rng, bits) for _ in range(300)})
    for one, other in itertools.pairwise(keys):
        a, b = number_of(one, bits), number_of(other, bits)
        assert math.isnan(b) or a < b or a == b == 0
        assert key_of(a, bits) == one


def test_z3_agrees():
    """Every operation on constants, through the translation: two implementations of IEEE 754."""
    rng, context = random.Random(5), z3.Context()
    translate = Translator(context)
    tests = ("f<", "f<=", "f=", "fnan", "finf")
    for _ in range(700):
        bits = rng.choice((32, 64))
        change = "fwiden" if bits == 32 else "fnarrow"
        op = rng.choice(("f+", "f-", "f*", "f/", "fneg", "fabs", change, *tests))
        count = 1 if op in ("fneg", "fabs", change, "fnan", "finf") else 2
        keys = [draw(rng, bits) for _ in range(count)]
        names = [var(f"v{i} of {bits}", bits) for i in range(count)]
        made = translate(floating(op, bits, *names))
        values = [
            (translate(name), float_constant(key, bits, context))
            for name, key in zip(names, keys, strict=True)
        ]
        found = z3.simplify(z3.substitute(made, *values))
        value = z3.is_true(found) if op in tests else model_value(found)
        assert value == float_value(op, bits, keys), (op, bits, keys)
        for sign in ("<=", "<", "="):
            order = translate(compare(sign, names[0], names[-1]))
            holds = z3.is_true(z3.simplify(z3.substitute(order, *values)))
            assert holds == evaluate(compare(sign, const(keys[0]), const(keys[-1])), {}) or (
                len(keys) == 1
            )


def term(rng: random.Random, bits: int, depth: int):
    if depth == 0 or rng.random() < 0.2:
        name = f"{rng.choice('xyz')} of {bits}"
        return const(draw(rng, bits)) if rng.random() < 0.4 else var(name, bits)
    op = rng.choice(("f+", "f-", "f*", "f/", "fneg", "fabs", "change", "square"))
    if op == "square":
        inner = term(rng, bits, depth - 1)
        return floating("f*", bits, inner, inner)
    if op == "change":
        other = 96 - bits
        inner = term(rng, other, depth - 1)
        return floating("fwiden" if other == 32 else "fnarrow", other, inner)
    count = 1 if op in ("fneg", "fabs") else 2
    return floating(op, bits, *(term(rng, bits, depth - 1) for _ in range(count)))


def test_facts_that_ease_a_question_are_always_true():
    rng, count = random.Random(7), 0
    for _ in range(250):
        bits = rng.choice((32, 64))
        left = term(rng, bits, rng.randint(1, 3))
        facts = eased(floating("f<=", bits, left, const(draw(rng, bits))))
        count += len(facts)
        for _ in range(6):
            values = {f"{n} of {b}": draw(rng, b) for n in "xyz" for b in (32, 64)}
            for fact in facts:
                assert evaluate(fact, values), (fact, values)
    assert count > 2000


def test_a_width_is_not_lost():
    """A variable that is floating point in one place and an integer in another is our error, and
    none that a solver would see as a question about other variables."""
    x, wide, whole = var("x", 32), var("x", 64), var("x")
    bound = floating("f<=", 32, x, const(0))
    for other in (wide, whole):
        with pytest.raises(AssertionError, match="format"):
            substitute(bound, {"x": other})
        with pytest.raises(AssertionError, match="format"):
            floating("f+", 32, x, other)
        with pytest.raises(AssertionError, match="format"):
            ite(compare("<", var("i"), const(0)), x, other)
        with pytest.raises(AssertionError, match="format"):
            Translator(z3.Context())(conj((bound, compare("=", other, const(1)))))
    with pytest.raises(AssertionError, match="format"):
        floating("fof", 32, x)
    cut = Cut("c", ("x", "n"), ("x", "n"), ((None, None),) * 2, Place("f"), formats={"x": 32})
    system = System((cut,), ())
    moved = system.at(Premise(0, ("y", "m")), conj((bound, compare("=", var("n"), const(1)))))
    assert formats(moved) == {"y": 32, "m": None}
    assert formats(substitute(bound, {"x": renamed(x, "y")})) == {"y": 32}


def test_what_stands_for_a_conversion_allows_it():
    """The variable may have the value of the conversion, whatever that is of."""
    rng = random.Random(9)
    for bits in (32, 64):
        real, whole = var("x", bits), var("i")
        made = floating("fof", bits, whole)
        cut = floating("fint", bits, real)
        question = floating("f<", bits, made, const(key_of(2.5, bits)))
        clause = Clause((), compare("<=", cut, const(7)), None, (), ())
        other = Clause((), question, None, (), ())
        system = without_conversions(System((), (clause, other)))
        for _ in range(300):
            value = draw(rng, bits)
            if not math.isfinite(number_of(value, bits)):
                continue
            number = rng.choice((rng.randint(-9, 9), rng.getrandbits(64) - (1 << 63)))
            known = {
                real.leaf: value,
                "i": number,
                system.clauses[0].inputs[0].name: math.trunc(number_of(value, bits)),
            }
            first, second = system.clauses
            assert evaluate(first.constraint, known) == evaluate(clause.constraint, known)
            known = {"i": number, second.inputs[0].name: float_value("fof", bits, [number])}
            assert evaluate(second.constraint, known) == evaluate(question, known)
    assert system.clauses[0].constraint is not TRUE


def test_what_is_said_of_several_conversions_is_true():
    """Their order, and what comes back of them: most of all near the last integer that is exact."""
    rng = random.Random(10)
    for bits, digits in ((32, 24), (64, 53)):
        i, j = var("i"), var("j")
        a, b = (floating("fof", bits, whole) for whole in (i, j))
        back = floating("fint", bits, a)
        question = conj((floating("f<=", bits, a, b), compare("=", back, i)))
        (clause,) = without_conversions(System((), (Clause((), question, None, (), ()),))).clauses
        seen = set()
        for _ in range(500):
            near = rng.choice((0, 1 << digits, -(1 << digits), 1 << (digits + 2)))
            known = {name: near + rng.randint(-4, 4) for name in ("i", "j")}
            # by fractions, not by what is under test
            keys = [rounded(Fraction(known[name]), bits) for name in ("i", "j")]
            returned = math.trunc(number_of(keys[0], bits))
            names = [made.name for made in clause.inputs]
            expected = keys[0] <= keys[1] and returned == known["i"]
            known |= dict(zip(names, (keys[0], keys[1], returned), strict=True))
            assert evaluate(clause.constraint, known) == expected, known
            seen.add((expected, returned == known["i"]))
        assert seen == {(True, True), (False, True), (False, False)}


def test_texts_are_exact():
    rng = random.Random(11)
    for _ in range(300):
        bits = rng.choice((32, 64))
        key = draw(rng, bits)
        text = float_text(key, bits)
        if "N" in text:
            assert not math.isfinite(number_of(key, bits))
            continue
        plain = text.removesuffix("f") if bits == 32 else text
        value = float.fromhex(plain) if "0x" in plain else float(plain)
        assert key_of(value, bits) == key
