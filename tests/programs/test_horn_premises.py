"""Horn clauses with arrays and several premises: functions that call themselves and change arrays,
and predicates that are joined. Z3 and cvc5 confirm the proofs on the clauses, Z3 every fact of the
refutations."""

import pytest

from doeblin.programs import Outcome, output, parse_program, verify

from .test_horn_arrays import A, confirm, horn, modelled, unconfirmed


def filled(value="0", last="(< k n)"):
    """A function that fills an array up to n: what it returns, of what it is given."""
    return horn(
        {"F": f"{A} Int {A}"},
        ("A n", "(<= n 0)", "(F A n A)"),
        (
            "A B C n",
            f"(and (> n 0) (F A (- n 1) B) (= C (store B (- n 1) {value})))",
            "(F A n C)",
        ),
        (
            "A B n k",
            f"(and (F A n B) (<= 0 k) {last} (not (= (select B k) 0)))",
            "false",
        ),
    )


def framed(bound="(>= k n)"):
    """It changes the array before it calls itself; beyond n it leaves it as it is."""
    return horn(
        {"F": f"{A} Int {A}"},
        ("A n", "(<= n 0)", "(F A n A)"),
        ("A B C n", "(and (> n 0) (= B (store A (- n 1) 5)) (F B (- n 1) C))", "(F A n C)"),
        ("A B n k", f"(and (F A n B) {bound} (not (= (select B k) (select A k))))", "false"),
    )


def halved(value="1"):
    """Two calls, one for each half: the second has the array that the first returns."""
    return horn(
        {"F": f"{A} Int Int {A}"},
        ("A l h", "(>= l h)", "(F A l h A)"),
        ("A l h", "(= (+ l 1) h)", f"(F A l h (store A l {value}))"),
        ("A B C l h m", "(and (< l m) (< m h) (F A l m B) (F B m h C))", "(F A l h C)"),
        ("A B l h k", "(and (F A l h B) (<= l k) (< k h) (not (= (select B k) 1)))", "false"),
    )


def joined(last="(< k n)"):
    """Two loops that fill arrays, compared cell by cell."""
    return horn(
        {"P": f"{A} Int Int", "Q": f"{A} Int Int"},
        ("A n", "(>= n 0)", "(P A 0 n)"),
        ("A i n", "(and (P A i n) (< i n))", "(P (store A i 3) (+ i 1) n)"),
        ("A n", "(>= n 0)", "(Q A 0 n)"),
        ("A i n", "(and (Q A i n) (< i n))", "(Q (store A i 4) (+ i 1) n)"),
        (
            "A B i j n k",
            f"(and (P A i n) (Q B j n) (>= i n) (>= j n) (<= 0 k) {last} "
            "(>= (select A k) (select B k)))",
            "false",
        ),
    )


def shared(value="2"):
    """Two predicates of one array, which exclude each other in one place."""
    return horn(
        {"P": f"{A} Int", "Q": f"{A} Int"},
        ("A", "(= (select A 0) 1)", "(P A 0)"),
        ("A i", "(P A i)", f"(P (store A (+ i 1) {value}) (+ i 1))"),
        ("A i", "(= (select A 1) 7)", "(Q A i)"),
        ("A i", "(and (P A i) (Q A i) (>= i 1))", "false"),
    )


def mapped(more="1"):
    """Two arrays: the second gets what is one more than what the first has."""
    return horn(
        {"M": f"{A} {A} Int {A}"},
        ("A B n", "(<= n 0)", "(M A B n B)"),
        (
            "A B C n",
            "(and (> n 0) (M A B (- n 1) C))",
            f"(M A B n (let ((i (- n 1))) (store C i (+ (select A i) {more}))))",
        ),
        (
            "A B C n k",
            "(and (M A B n C) (<= 0 k) (< k n) (not (= (select C k) (+ (select A k) 1))))",
            "false",
        ),
    )


def called(least="1"):
    """A loop that stores what a recursive function returns."""
    return horn(
        {"S": "Int Int", "P": f"{A} Int Int"},
        ("x", "(<= x 0)", "(S x 1)"),
        ("x y", "(and (> x 0) (S (- x 1) y))", "(S x (+ y 1))"),
        ("A n", "(> n 0)", "(P A 0 n)"),
        ("A i n y", "(and (P A i n) (< i n) (S i y))", "(P (store A i y) (+ i 1) n)"),
        (
            "A i n k",
            f"(and (P A i n) (>= i n) (<= 0 k) (< k n) (< (select A k) {least}))",
            "false",
        ),
    )


def flagged(test="isall"):
    """A Boolean beside an array, and a premise that has it from somewhere else."""
    return horn(
        {"P": f"Bool {A} Int Int", "Q": "Bool"},
        ("n", "true", "(Q true)"),
        ("A n", "(> n 0)", "(P true A 0 n)"),
        (
            "isall A i n",
            "(and (P isall A i n) (< i n))",
            "(P (and isall (> (select A i) 0)) A (+ i 1) n)",
        ),
        (
            "isall A i n k",
            f"(and (P isall A i n) (Q {test}) (>= i n) (<= 0 k) (< k n) (<= (select A k) 0))",
            "false",
        ),
    )


def ordered(last="(<= (select A 1) (select A 2))"):
    """No loops: three cells, put in order by exchanges."""

    def exchanged(i, j):
        swapped = f"(store (store A {i} (select A {j})) {j} (select A {i}))"
        return f"(ite (<= (select A {i}) (select A {j})) A {swapped})"

    return horn(
        {"P": A, "Q": A, "R": A},
        ("A", "true", f"(P {exchanged(0, 1)})"),
        ("A", "(P A)", f"(Q {exchanged(1, 2)})"),
        ("A", "(Q A)", f"(R {exchanged(0, 1)})"),
        ("A", f"(and (R A) (not (and (<= (select A 0) (select A 1)) {last})))", "false"),
    )


def both(place="i"):
    """No loops: two predicates that are joined, of arrays that were changed."""
    return horn(
        {"P": f"{A} Int", "Q": f"{A} Int", "R": f"{A} {A} Int"},
        ("A i", "true", "(P (store A i 1) i)"),
        ("A i", "true", f"(Q (store A {place} 2) i)"),
        ("A B i", "(and (P A i) (Q B i))", "(R A (store B (+ i 1) (select A i)) i)"),
        ("A B i", "(and (R A B i) (not (= (+ (select B i) (select B (+ i 1))) 3)))", "false"),
    )


def chosen(place="(+ i 1)"):
    """No loops: a Boolean decides what is stored."""
    return horn(
        {"P": f"Bool {A} Int", "Q": f"{A} Int Bool"},
        ("A i isb", "(= isb (> (select A i) 0))", "(P isb A i)"),
        ("A i isb", "(and (P isb A i) isb)", "(Q (store A (+ i 1) (select A i)) i isb)"),
        ("A i isb", "(and (P isb A i) (not isb))", "(Q (store A (+ i 1) 1) i isb)"),
        ("A i isb", f"(and (Q A i isb) (<= (select A {place}) 0))", "false"),
    )


def alike(place="1"):
    """Two arrays of one kind, of which a single cell is known; a predicate without arguments."""
    return horn(
        {"Z": "", "P": A},
        ("n", "true", "Z"),
        ("A", "(and Z (= (select A 0) 1))", "(P A)"),
        ("A B", f"(and (P A) (P B) Z (not (= (select A {place}) (select B {place}))))", "false"),
    )


SAFE = {
    "alike": alike("0"),
    "ordered": ordered(),
    "both": both(),
    "chosen": chosen(),
    "filled": filled(),
    "framed": framed(),
    "joined": joined(),
    "mapped": mapped(),
    "called": called(),
    "flagged": flagged(),
}
UNSAFE = {
    "alike": alike(),
    "ordered": ordered("(< (select A 1) (select A 2))"),
    "both": both("(+ i 1)"),
    "chosen": chosen("i"),
    "another value": filled(value="(ite (= n 3) 1 0)"),
    "one too far": filled(last="(<= k n)"),
    "framed": framed("(>= k 1)"),
    "halved": halved("(ite (= l 2) 0 1)"),
    "joined": joined("(<= k n)"),
    "shared": shared("7"),
    "mapped": mapped("(ite (> n 2) 2 1)"),
    "called": called("2"),
    "flagged": flagged("(not isall)"),
}


# Dear, and of what others have one by one; but `make test` refutes what it does not prove.
MARKS = dict.fromkeys(["framed", "halved", "joined", "flagged"], pytest.mark.thorough)


@pytest.mark.parametrize("name", [pytest.param(n, marks=MARKS.get(n, ())) for n in SAFE])
def test_proofs(name):
    text = SAFE[name]
    program = parse_program(text, language="horn")
    verdict = verify(program, timeout=60)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    assert unconfirmed(modelled(text, output.model(program, verdict))) == []
    certificate = output.certificate(program, verdict)
    assert output.check_certificate(program, certificate) is None


REFUTED = dict.fromkeys(["both", "chosen", "shared", "mapped"], pytest.mark.thorough)


@pytest.mark.parametrize("name", [pytest.param(n, marks=REFUTED.get(n, ())) for n in UNSAFE])
def test_refutations(name):
    program = parse_program(UNSAFE[name], language="horn")
    verdict = verify(program, timeout=60)
    assert verdict.outcome is Outcome.UNSAFE, verdict.reason
    confirm(UNSAFE[name], program, verdict)


@pytest.mark.parametrize(
    ("text", "others"),
    [(filled(), (filled(last="(<= k n)"), filled(value="8"))), (both(), (both("(+ i 1)"),))],
)
def test_a_proof_is_of_its_own_clauses(text, others):
    program = parse_program(text, language="horn")
    certificate = output.certificate(program, verify(program, timeout=60))
    for other in others:
        said = output.check_certificate(parse_program(other, language="horn"), certificate)
        assert said is not None and said.endswith(": sat")
