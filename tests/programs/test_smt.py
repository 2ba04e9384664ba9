"""SyGuS and Horn readers."""

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, parse_program, verify

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
        ("(declare-fun p (Int) Bool)(assert (p 1 2))", "horn", "takes 1 arguments"),
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
        (
            "(declare-fun p (Int) Bool)\n"
            "(assert (forall ((x Int) (y Int)) (=> (and (p x) (p y)) (p (+ x y)))))",
            "two unknown premises",
        ),
        ("(declare-fun p (Int) Bool)(assert (p (bvadd 1 2)))", "the operator 'bvadd'"),
    ],
)
def test_unsupported(text, reason):
    verdict = verify(parse_program(text, language="horn", file="p"))
    assert verdict.outcome is Outcome.UNKNOWN and reason in verdict.reason
