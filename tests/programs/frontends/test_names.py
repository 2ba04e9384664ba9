"""Names mean nothing: variables called as the prover might call things of its own."""

import pytest

from doeblin.programs import Outcome, parse_program, verify

SYGUS = """(set-logic LIA)
(synth-inv inv ((|{0}| Int) (|{1}| Int) (|{2}| Int) (|{3}| Int)))
(define-fun pre ((|{0}| Int) (|{1}| Int) (|{2}| Int) (|{3}| Int)) Bool
  (and (= |{0}| 0) (= |{1}| 0) (> |{2}| 0) (= |{3}| |{2}|)))
(define-fun trans ((|{0}| Int) (|{1}| Int) (|{2}| Int) (|{3}| Int)
    (|{0}'| Int) (|{1}'| Int) (|{2}'| Int) (|{3}'| Int)) Bool
  (and (< |{0}| |{2}|) (= |{0}'| (+ |{0}| 1)) (= |{1}'| (+ |{1}| 3)) (= |{2}'| |{2}|)
    (= |{3}'| (- |{3}| 1))))
(define-fun post ((|{0}| Int) (|{1}| Int) (|{2}| Int) (|{3}| Int)) Bool
  (and (= |{1}| (* 3 |{0}|)) (>= |{3}| 0)))
(inv-constraint inv pre trans post)
(check-synth)
"""
HORN = """(set-logic HORN)
(declare-fun p (Int Int Int) Bool)
(assert (forall ((|{0}| Int) (|{1}| Int)) (=> (>= |{1}| 0) (p 0 |{1}| 0))))
(assert (forall ((|{0}| Int) (|{1}| Int) (|{2}| Int) (|{3}| Int))
  (=> (and (p |{0}| |{1}| |{2}|) (< |{0}| |{1}|) (= |{3}| (+ |{2}| 2)))
      (p (+ |{0}| 1) |{1}| |{3}|))))
(assert (forall ((|{0}| Int) (|{1}| Int) (|{2}| Int))
  (=> (and (p |{0}| |{1}| |{2}|) (>= |{0}| |{1}|) (not (= |{2}| (* 2 |{1}|)))) false)))
(check-sat)
"""
PLAIN = ("k", "l", "m", "n")


@pytest.mark.parametrize(("language", "text"), [("sygus", SYGUS), ("horn", HORN)])
@pytest.mark.parametrize(
    "names",
    [
        ("x*", "x?3", "x!", "a*b"),
        pytest.param(("x", "x*", "x!", "x*x"), marks=pytest.mark.thorough),
        pytest.param(("x?", "x", "x?1", "x!!"), marks=pytest.mark.thorough),
        ("#turns2", "x@1", "0:x", "x'0"),
        ("x:double", "x:float", "y:double?1", "x"),
    ],
)
def test_names_change_nothing(language, text, names):
    """The same verdict for the same reasons with the same questions, hence in the same time."""
    plain = verify(parse_program(text.format(*PLAIN), language=language), timeout=30)
    odd = verify(parse_program(text.format(*names), language=language), timeout=30)
    assert plain.outcome is odd.outcome is Outcome.SAFE
    same = ("rounds", "steps", "queries", "found_by")
    assert [getattr(odd, name) for name in same] == [getattr(plain, name) for name in same]


def test_a_variable_called_as_the_turns_of_a_loop():
    """Two variables `turns`, and a failure that only many turns at once reach."""
    text = """int main() {{ int {0} = 0; {{ int {0} = 0; {{ int {0} = 5;
      while ({0} < 3000000) {0}++; assert({0} != 3000000); }} }} }}"""
    found = [verify(parse_program(text.format(name)), timeout=30) for name in ("turns", "x")]
    assert [verdict.outcome for verdict in found] == [Outcome.UNSAFE] * 2
