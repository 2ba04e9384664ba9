"""SyGuS and Horn readers."""

import random
import re

import pytest
import z3

from doeblin._errors import InputError
from doeblin.programs import Outcome, parse_program, verify

from ..fuzz.clauses import spacer

SYGUS = """(set-logic LIA)
(synth-inv inv ((x Int) (b Bool)))
(define-fun pre ((x Int) (b Bool)) Bool (and (= x 0) b))
(define-fun trans ((x Int) (b Bool) (x! Int) (b! Bool)) Bool
  (let ((next (+ x 2))) (and (< x 10) (= x! next) (= b! (not b)))))
(define-fun post ((x Int) (b Bool)) Bool (=> (>= x 10) {claim}))
(inv-constraint inv pre trans post)
(check-synth)
"""

HORN = """(set-logic HORN)
(declare-fun outer (Int Int) Bool)
(declare-fun inner (Int Int Int) Bool)
(assert (forall ((n Int)) (=> (> n 0) (outer n 0))))
(assert (forall ((n Int) (i Int)) (=> (and (outer n i) (< i n)) (inner n i i))))
(assert (forall ((n Int) (i Int) (j Int)) (=> (and (inner n i j) (< j n)) (inner n i (+ j 1)))))
(assert (forall ((n Int) (i Int) (j Int)) (=> (and (inner n i j) (>= j n)) (outer n (+ i 1)))))
(assert (forall ((n Int) (i Int) (j Int)) (=> (and (inner n i j) (not {claim})) false)))
(check-sat)
"""


@pytest.mark.parametrize(("claim", "outcome"), [("(= x 10)", "SAFE"), ("b", "UNSAFE")])
def test_sygus(claim, outcome):
    verdict = verify(parse_program(SYGUS.format(claim=claim), language="sygus"))
    assert verdict.outcome.value == outcome, verdict.reason


@pytest.mark.parametrize(("claim", "outcome"), [("(<= i j)", "SAFE"), ("(< j 3)", "UNSAFE")])
def test_horn(claim, outcome):
    verdict = verify(parse_program(HORN.format(claim=claim), language="horn"))
    assert verdict.outcome.value == outcome, verdict.reason


def test_clauses_as_disjunctions_and_rules():
    text = """(declare-rel p (Int)) (declare-var x Int)
    (rule (p 0)) (rule (=> (and (p x) (< x 5)) (p (+ x 1)))) (query (and (p x) (> x 5)))"""
    assert verify(parse_program(text, language="horn")).outcome is Outcome.SAFE
    text = """(set-logic HORN) (declare-fun p (Int) Bool)
    (assert (p 0))
    (assert (forall ((x Int)) (or (not (p x)) (p (+ x 1)))))
    (assert (forall ((x Int)) (not (and (p x) (< x 0)))))"""
    assert verify(parse_program(text, language="horn")).outcome is Outcome.SAFE


@pytest.mark.parametrize(
    ("text", "language", "message"),
    [
        ("(set-logic LIA", "sygus", "p:1:1: this '(' is never closed"),
        ("(check-synth)", "sygus", "there is no 'synth-inv'"),
        ("(set-logic HORN)", "horn", "there are no clauses"),
        ("(declare-fun p (Int) Bool)(assert (p y))", "horn", "p:1:38: 'y' is not declared"),
        *(
            (
                f"(declare-fun p (Int) Bool)(assert (=> {name} (p 0)))",
                "horn",
                f"p:1:27: '{name}' has no arguments",
            )
            for name in ("xor", "and", "or")
        ),
        (
            "(declare-fun p (Int) Bool)(assert (p 1 2))",
            "horn",
            "p:1:41: 'p' is applied to arguments (Int Int), but declared as",
        ),
    ],
)
def test_malformed(text, language, message):
    with pytest.raises(InputError) as error:
        parse_program(text, language=language, file="p")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(declare-fun p (Real) Bool)", "the sort Real at p:1:17"),
        ("(declare-fun p (Int) Bool)(assert (p (bv2int #x0F)))", "the sort (_ BitVec 8) at p:1:27"),
        ("(declare-fun p (Int) Bool)(push 1)(assert (p 1))", "the command 'push' at p:1:27"),
        ("(assert false)(check-sat)(assert true)", "commands after 'check-sat' at p:1:26"),
        ("(declare-fun f (Int) Int)(assert true)", "functions that are no predicates"),
        ("(declare-const c Int)(assert (> c 0))", "the command 'declare-const'"),
        ("(declare-fun |a\nb| () Bool)(assert |a\nb|)", "the name 'a\\nb' at p:1:14"),
        ('(include "/etc/passwd")', "the command 'include'"),
        (
            "(declare-fun p (Int) Bool)\n(assert (=> (forall ((x Int)) (p x)) false))",
            "a quantifier here at p:2:1",
        ),
        ("(assert " + "(not " * 30_000 + "true" + ")" * 30_000 + ")", "nested brackets"),
        (f"(assert (= {'9' * 5000} 1))", "digits"),
        (
            "(assert (let ((x0 10)) "
            + "".join(f"(let ((x{i + 1} (* x{i} x{i}))) " for i in range(60))
            + "(= x60 1)"
            + ")" * 62,
            "bits",
        ),
    ],
)
def test_unsupported(text, reason):
    verdict = verify(parse_program(text, language="horn", file="p"))
    assert verdict.outcome is Outcome.UNKNOWN and reason in verdict.reason


@pytest.mark.parametrize(("value", "truth"), [(1, Outcome.SAFE), (1 << 60, Outcome.UNSAFE)])
def test_sums_that_double_again_and_again_are_gathered(value, truth):
    doubled = "".join(f"(let ((x{i + 1} (+ x{i} x{i}))) " for i in range(60))
    text = f"(assert (forall ((x0 Int)) {doubled} (not (= x60 {value})){')' * 62}"
    assert verify(parse_program(text, language="horn")).outcome is truth


# Each with its truth by hand, which Z3's own engine, reading the text, does not contradict.
MEANINGS = {
    ("sibling exists are two variables", "UNSAFE"): """(declare-fun p (Int) Bool)
    (assert (forall ((x Int)) (=> (and (exists ((y Int)) (and (= x y) (> y 3)))
                                       (exists ((y Int)) (and (= x (+ y 5)) (< y 0)))) (p x))))
    (assert (forall ((x Int)) (=> (and (p x) (< x 5)) false)))""",
    ("a comparison as an argument", "SAFE"): """(declare-fun p (Bool) Bool)
    (assert (forall ((x Int)) (=> (= x 7) (p (= x 5)))))
    (assert (=> (p true) false))""",
    ("a comparison with one as an argument", "SAFE"): """(declare-fun p (Bool) Bool)
    (assert (forall ((x Int)) (=> (= x 7) (p (= x 1)))))
    (assert (forall ((b Bool)) (=> (and (p b) b) false)))""",
    (
        "a premise's comparison with one",
        "UNSAFE",
    ): """(declare-fun p (Bool) Bool) (declare-fun q (Int) Bool)
    (assert (p false))
    (assert (forall ((x Int)) (=> (p (= x 1)) (q x))))
    (assert (=> (q 7) false))""",
    ("a numeral's name", "SAFE"): """(declare-fun p (Int) Bool)
    (assert (forall ((|5| Int)) (=> (= |5| 6) (p |5|))))
    (assert (forall ((x Int)) (=> (and (p x) (= x 5)) false)))""",
    ("names with dots", "UNSAFE"): """(declare-fun p (Int Int) Bool)
    (assert (forall ((x Int) (x.1 Int)) (=> (exists ((x Int)) (= x.1 (+ x 1))) (p x x.1))))
    (assert (forall ((a Int) (b Int)) (=> (and (p a b) (not (= a b))) false)))""",
    ("names with primes and marks", "SAFE"): """(declare-fun p (Int Int Int) Bool)
    (assert (p 0 1 2))
    (assert (forall ((x Int) (x! Int) (|x'0| Int)) (=> (p x x! |x'0|) (p x! |x'0| x))))
    (assert (forall ((x Int) (|x@0| Int) (|x?| Int)) (=> (p x |x@0| |x?|)
        (= (+ x |x@0| |x?|) 3))))""",
    ("a predicate inside let", "SAFE"): """(declare-fun p (Int) Bool)
    (assert (forall ((x Int)) (let ((a (p x)) (b (+ x 1)))
        (let ((c (and a (< x 5)))) (=> c (p b))))))
    (assert (p 0))
    (assert (forall ((x Int)) (let ((x (p x)) (y x)) (=> (and x (> y 5)) false))))""",
    ("definitions", "SAFE"): """(declare-fun p (Int) Bool)
    (define-fun next ((x Int)) Int (ite (> x 3) 0 (+ x 1)))
    (define-fun bad ((x Int) (b Bool)) Bool (xor b (<= 0 x 4)))
    (assert (p 0))
    (assert (forall ((x Int)) (=> (p x) (p (next x)))))
    (assert (forall ((x Int)) (=> (and (p x) (bad x true)) false)))""",
    ("choices and conjunctions", "SAFE"): """(declare-fun p (Int) Bool) (declare-fun q (Int) Bool)
    (assert (and (p 1) (forall ((x Int)) (=> (or (p x) (q x)) (ite (< x 9) (q (+ x 1)) true)))))
    (assert (forall ((x Int)) (not (and (q x) (> x 9)))))""",
    ("equal truths", "SAFE"): """(declare-fun p (Int) Bool)
    (assert (forall ((x Int)) (= (p x) (> x 3))))
    (assert (forall ((x Int)) (=> (p x) (> x 2))))""",
    ("a failing choice", "UNSAFE"): """(declare-fun p (Int) Bool)
    (assert (forall ((x Int)) (= (p x) (> x 3))))
    (assert (forall ((x Int)) (=> (p x) (> x 4))))""",
    ("no arguments", "UNSAFE"): """(declare-fun a () Bool) (declare-fun |b c| () Bool)
    (assert (=> true a)) (assert (=> a |b c|)) (assert (=> |b c| false))""",
    ("nothing follows", "SAFE"): "(assert (forall ((x Int)) (=> (> x 3) (> x 2))))",
    ("nothing holds", "UNSAFE"): "(assert (forall ((x Int)) (=> (> x 3) (> x 4))))",
    ("division by zero is anything", "SAFE"): """(declare-fun p (Int) Bool)
    (assert (p (div 1 0))) (assert (forall ((x Int)) (=> (and (p x) (= x 0)) false)))""",
    ("shadowed", "SAFE"): """(declare-fun p (Int Int) Bool)
    (assert (forall ((x Int)) (=> (= x 1) (forall ((y Int) (x Int)) (=> (= x y 2) (p x y))))))
    (assert (forall ((x Int) (y Int)) (=> (p x y) (= x 2))))""",
}


@pytest.mark.parametrize(("name", "truth"), MEANINGS)
def test_horn_means_what_it_says(name, truth):
    text = MEANINGS[name, truth]
    verdict = verify(parse_program(text, language="horn"))
    solver = z3.SolverFor("HORN", ctx=z3.Context())
    solver.set("timeout", 20_000)
    solver.from_string(f"(set-logic HORN)\n{text}\n(check-sat)")
    says = str(solver.check())
    if "zero" in name:  # what it gives may be chosen, and no run of ours may depend on it
        assert verdict.outcome is Outcome.UNKNOWN
    else:
        assert says != {"SAFE": "unsat", "UNSAFE": "sat"}[truth]
        assert verdict.outcome.value == truth, verdict.reason


SYGUS_WRONG = [
    ("(= x 0)", "(= x true)", "Sort mismatch"),
    ("(= x 0)", "(= y 0)", "p.sl:3:49: 'y' is not declared"),
    ("(= x 0)", "(= (+ x true) 0)", "Sort mismatch"),
    ("(= x 0)", "(< x)", "'<' needs at least 2 arguments"),
    ("inv pre trans post", "inv pre pre post", "'pre' takes 2 arguments here, not 4"),
    ("inv pre trans post", "inv pre trans missing", "p.sl:7:31: 'missing' is not defined"),
    ("inv pre trans post", "other pre trans post", "'other' is not the unknown"),
    ("(x! Int)", "(x Int)", "'x' is bound twice"),
    ("define-fun pre", "define-fun trans", "'trans' is declared twice"),
    ("define-fun pre", "define-fun and", "'and' has a meaning"),
    ("(define-fun pre ((x Int)", "(define-fun pre ((x Bool)", "Sort mismatch"),
    ("Bool (and (= x 0) b)", "Int (and (= x 0) b)", ""),
]


@pytest.mark.parametrize(("old", "new", "message"), SYGUS_WRONG)
def test_sygus_is_checked(old, new, message):
    text = SYGUS.format(claim="b")
    assert old in text
    with pytest.raises(InputError) as error:
        parse_program(text.replace(old, new, 1), language="sygus", file="p.sl")
    assert message in str(error.value) and str(error.value).startswith("p.sl:")


def test_all_invariant_constraints_count():
    """Of two constraints the one that fails decides, whichever comes first."""
    text = SYGUS.format(claim="(= x 10)")
    more = text.replace("(inv-constraint inv pre trans post)", "{}")
    define = "(define-fun never ((x Int) (b Bool)) Bool (< x 10))\n"
    good, bad = "(inv-constraint inv pre trans post)", "(inv-constraint inv pre trans never)"
    for first, second, truth in (
        (good, bad, "UNSAFE"),
        (bad, good, "UNSAFE"),
        (good, good, "SAFE"),
    ):
        both = more.replace("{}", f"{define}{first}\n{second}")
        verdict = verify(parse_program(both, language="sygus"))
        assert verdict.outcome.value == truth, verdict.reason


def test_sygus_names_that_collide():
    """`x` and `x!` are both parameters, and one is called as the unknown is."""
    text = """(synth-inv inv ((x Int) (x! Int) (inv Int) (pre Int)))
    (define-fun pre ((a Int) (b Int) (c Int) (d Int)) Bool (and (= a 0) (= b 5) (= c d 0)))
    (define-fun trans ((a Int) (b Int) (c Int) (d Int) (e Int) (f Int) (g Int) (h Int)) Bool
      (and (= e (+ a 1)) (= f (+ b 1)) (= g c) (= h d)))
    (define-fun post ((a Int) (b Int) (c Int) (d Int)) Bool (and (= b (+ a 5)) (= c d)))
    (inv-constraint inv pre trans post)(check-synth)"""
    assert verify(parse_program(text, language="sygus")).outcome is Outcome.SAFE
    text = text.replace("(= b (+ a 5))", "(< b 9)")
    assert verify(parse_program(text, language="sygus")).outcome is Outcome.UNSAFE


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("(x Int) (b Bool)))", "(x Int) (b Real)))", "the sort Real"),
        ("(x Int) (b Bool)))", "(x Int) (b (_ BitVec 8))))", "the sort (_ BitVec 8)"),
        ("(b Bool)))\n", "(b Bool)) ((S Bool)) ((S Bool (true))))\n", "a grammar"),
        ("(check-synth)", "(constraint true)", "'constraint'"),
        ("(check-synth)", "(check-synth)(define-fun f () Int 1)", "after 'check-synth'"),
    ],
)
def test_sygus_refuses_what_is_not_modelled(old, new, reason):
    text = SYGUS.format(claim="b")
    assert old in text
    verdict = verify(parse_program(text.replace(old, new, 1), language="sygus", file="p.sl"))
    assert verdict.outcome is Outcome.UNKNOWN and reason in verdict.reason


def mutants(text, count, seed):
    """The text with characters and words dropped, doubled, swapped or strange."""
    rng = random.Random(seed)
    words = re.findall(r"[()]|[^\s()]+|\s+", text)
    odd = ["(", ")", "|", '"', ";", "\0", "\ufeff", "|5|", "(let ((x 1)", "forall", "()", "#b1",
           "1.5", "-", "_", "(_ bv1 8)", "!", "true", "é", "|\n|", "9" * 50]  # fmt: skip
    for _ in range(count):
        new = list(words)
        for _ in range(rng.randint(1, 3)):
            i, j = rng.randrange(len(new)), rng.randrange(len(new))
            match rng.randrange(5):
                case 0:
                    del new[i]
                case 1:
                    new.insert(i, new[j])
                case 2:
                    new[i], new[j] = new[j], new[i]
                case 3:
                    new[i] = rng.choice(odd)
                case 4:
                    new[i] = new[i][: rng.randrange(len(new[i]) + 1)]
        yield "".join(new)


def test_no_mutant_is_a_crash():
    """Malformed files are errors with a place, or are read; there is no third."""
    sources = [("sygus", SYGUS.format(claim="b")), ("horn", HORN.format(claim="(<= i j)"))]
    sources += [("horn", text) for text in MEANINGS.values()]
    read = refused = 0
    for number, (language, text) in enumerate(sources):
        for mutant in mutants(text, 15, number):
            try:
                parse_program(mutant, language=language, file="p")
                read += 1
            except InputError as error:
                refused += 1
                assert str(error).startswith("p:"), (str(error), mutant)
    assert read > 10 and refused > 150


def test_what_always_holds_is_proved_not_missing():
    text = SYGUS.format(claim="(>= (* x x) 0)").replace("(=> (>= x 10) (>= (* x x) 0))", "true")
    assert verify(parse_program(text, language="sygus")).outcome is Outcome.SAFE
    horn = "(declare-fun p (Int) Bool)(assert (p 0))(assert (forall ((x Int)) (=> (p x) true)))"
    assert verify(parse_program(horn, language="horn")).outcome is Outcome.SAFE


ODD = [
    "(set-logic)",
    "(set-logic HORN and)",
    "(set-logic set-info HORN)",
    "(set-info)",
    "(set-info :status)",
    "(set-info :status unknown and)",
    "(set-info status unknown)",
    "(set-info :status (unknown))",
    "(set-info :status :unknown)",
    "(set-option :produce-models)",
    "(set-option :produce-models true false)",
]
ODD_IN_HORN = ["(get-info)", "(get-info a)", "(get-proof 1)", "(echo)", "(exit 1)", "(check-sat 1)"]


@pytest.mark.parametrize("odd", [*ODD, *ODD_IN_HORN])
def test_commands_that_are_passed_over_are_well_formed(odd):
    """As Z3 has it, which random changes of files showed."""
    horn = "(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (= x 1) (P x))))"
    sygus = (
        "(synth-inv inv ((x Int)))(define-fun pre ((x Int)) Bool (= x 0))"
        "(define-fun trans ((x Int) (y Int)) Bool (= y x))(define-fun post ((x Int)) Bool (= x 0))"
        "(inv-constraint inv pre trans post)(check-synth)"
    )
    assert spacer(odd + horn) == "malformed"
    for text, language in ((horn, "horn"), (sygus, "sygus")):
        parse_program(text, language=language, file="p")
        with pytest.raises(InputError, match=r":1:1: '[a-z-]+' takes "):
            parse_program(odd + text, language=language, file="p")


def test_other_commands_may_stand_beside_clauses():
    beside = (
        "(set-logic HORN)(set-info :source |a; (b)|)(set-info :status sat)(set-info :n 1.5)"
        '(set-option :produce-models true)(get-info :version)(echo "a) b")'
    )
    horn = "(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (= x 1) (P x))))"
    assert spacer(beside + horn) == "sat"
    text = f"{beside}{horn}(check-sat)(get-model)(exit)"
    assert verify(parse_program(text, language="horn", file="p")).outcome is not Outcome.UNSAFE
