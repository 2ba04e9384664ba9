"""ACSL as input: what it claims is proved or refuted, what is not understood is said."""

# ruff: noqa: E501
import pytest

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.output import acsl

HEAD = "int unknown(void);\n"


def judged(text, **options):
    return verify(parse_program(HEAD + text, file="p.c", **options), timeout=20)


SAFE = {
    "assert": "int main() { int x = 3; //@ assert x == 3;\n }",
    "assert in a block comment": "int main() { int x = 3; /*@ assert x == 3; */ }",
    "two in one": "int main() { int x = 3; /*@ assert x == 3; assert x < 4; */ }",
    "check": "int main() { int x = 3; //@ check x == 3;\n }",
    "named": "int main() { int x = 3; //@ assert small: x == 3;\n }",
    "chain": "int main() { int x = 3; //@ assert 0 <= x < 4 == 4;\n }",
    "chain down": "int main() { int x = 3; //@ assert 9 > x >= 3 == 3;\n }",
    "implication": "int main() { int x = unknown(); //@ assert x > 3 ==> x > 2;\n }",
    "implies to the right": "int main() { //@ assert \\false ==> \\false ==> \\false;\n }",
    "equivalence": "int main() { int x = unknown(); //@ assert x > 3 <==> !(x <= 3);\n }",
    "exclusive": "int main() { int x = unknown(); //@ assert x > 3 ^^ x <= 3;\n }",
    "mathematical": "int main() { int x = unknown(); //@ assert x + 1 > x;\n }",
    "unsigned is mathematical": "int main() { unsigned u = unknown(); //@ assert u + 1 > u;\n }",
    "no conversions": "int main() { int x = -1; unsigned u = 1; //@ assert x < u;\n }",
    "cast wraps": "int main() { //@ assert (unsigned char) 257 == 1 && (int) 4294967296 == 0;\n }",
    "division": "int main() { int x = -7; //@ assert x / 2 == -3 && x % 2 == -1;\n }",
    "choice": "int main() { int x = 3; //@ assert (x > 2 ? 5 : 6) == 5;\n }",
    "min and max": "int main() { int x = 3; //@ assert \\max(x, 5) == 5 && \\abs(-x) == \\min(3, x);\n }",
    "macro": "#define LIMIT 4\nint main() { int x = 3; //@ assert x < LIMIT;\n }",
    "no macro": "#include <assert.h>\nint main() { int x = 3; //@ assert (x < 4) && (x > 2);\n }",
    "no macro of ours": "#define check(x) 0\nint main() { int x = 3; //@ check (x < 4);\n }",
    "after a label": "int main() { int x = 3; goto L; x = 4; L: //@ assert x == 3;\n ; }",
    "alone in an if": "int main() { int x = 3; if (x > 3) /*@ assert \\false; */ x = 1; else x = 2; }",
    "admit": "int main() { int x = unknown(); //@ admit x > 3;\n /*@ assert x > 2; */ }",
    "requires at the start": "/*@ requires n > 3; */ int main(int n) { //@ assert n > 2;\n }",
    "ensures": "/*@ ensures \\result == x + 1; */ int f(int x) { x++; return x; }\n"
    "int main() { f(1); }",
    "old": "int g;\n/*@ ensures g == \\old(g) + 1 && \\at(g, Pre) < g; */ void f(void) { g++; }\n"
    "int main() { f(); f(); }",
    "requires at a call": "/*@ requires x > 0; */ int f(int x) { return x; }\nint main() { f(3); }",
    "a contract for a body": "/*@ ensures \\result > x; assigns \\nothing; */ int f(int x);\n"
    "int g = 7;\nint main() { int x = f(3); assert(x > 3 && g == 7); }",
    "assigns what it says": "int g, h;\n/*@ assigns g; ensures g > 0; */ void f(void);\n"
    "int main() { f(); assert(g > 0 && h == 0); }",
    "behaviours": "/*@ behavior up: assumes x > 0; ensures \\result == 1;\n"
    "  @ behavior down: assumes x <= 0; ensures \\result == 0; complete behaviors; @*/\n"
    "int sign(int x) { return x > 0; }\nint main() { sign(unknown()); }",
    "behaviours of a declaration": "/*@ behavior up: assumes x > 0; ensures \\result == 1; */\n"
    "int sign(int x);\nint main() { int r = sign(3); assert(r == 1); }",
    "parameters in ensures are old": "/*@ ensures \\result == x; */ int f(int x) { int y = x; "
    "x = 9; return y; }\nint main() { f(1); }",
    "loop invariant": "int main() { int i = 0, s = 0;\n /*@ loop invariant s == 3 * i; loop assigns i, s;"
    " loop variant 9 - i; */\n while (i < 9) { i++; s += 3; }\n assert(s == 27); }",
    "a wrong loop invariant": "int main() { int i = 0;\n //@ loop invariant i == 77;\n"
    " while (i < 9) i++;\n assert(i == 9); }",
    "for with its own variable": "int main() { int s = 0;\n //@ loop invariant s == 2 * i;\n"
    " for (int i = 0; i < 5; i++) s += 2;\n assert(s == 10); }",
    "not compiled": "#if 0\n//@ assert 1 == 2;\n#endif\nint main() { assert(1); }",
    "an enumerator": "enum { A, B };\nint main() { //@ assert B == A + 1;\n }",
    "admit requires": "/*@ admit requires x > 0; */ int f(int x) { assert(x > 0); return x; }\n"
    "int main() { f(unknown()); }",
    "admit ensures": "/*@ admit ensures \\result > 0; */ int f(int x) { return x; }\n"
    "int main() { int x = f(unknown()); assert(x > 0); }",
}  # fmt: skip

UNSAFE = {
    "assert": "int main() { int x = unknown(); //@ assert x != 12;\n }",
    "chain": "int main() { int x = 5; //@ assert 0 <= x < 4;\n }",
    "equalities chain": "int main() { //@ assert 0 == 0 == 1;\n }",
    "requires": "/*@ requires x > 0; */ int f(int x) { return x; }\nint main() { f(0); }",
    "ensures": "/*@ ensures \\result > 0; */ int f(int x) { return x; }\nint main() { f(0); }",
    "requires of a declaration": "/*@ requires x > 0; */ int f(int x);\nint main() { f(0); }",
    "behaviour": "/*@ behavior up: assumes x > 0; ensures \\result == 0; */\n"
    "int sign(int x) { return x > 0; }\nint main() { sign(1); }",
    "not covered by a behaviour": "/*@ behavior up: assumes x > 0; ensures \\result == 1; */\n"
    "int sign(int x);\nint main() { int r = sign(0); assert(r == 1); }",
    "old": "int g;\n/*@ ensures g == \\old(g); */ void f(void) { g++; }\nint main() { f(); }",
    "check requires": "/*@ check requires x > 0; */ int f(int x) { return x; }\n"
    "int main() { f(0); }",
    "check ensures": "/*@ check ensures \\result > 0; */ int f(int x) { return x; }\n"
    "int main() { f(0); }",
    "check is no assumption of main": "/*@ check requires x > 0; */\n"
    "int main(int x) { assert(x > 0); }",
    "check is no assumption of a declaration": "/*@ check ensures \\result > 0; */ int f(void);\n"
    "int main() { int x = f(); assert(x > 0); }",
    "an invariant is no assumption": "int main() { int i = 0;\n //@ loop invariant i < 5;\n"
    " while (i < 9) i++;\n assert(i < 5); }",
}  # fmt: skip

NOT_UNDERSTOOD = {
    "quantifier": "int main() { //@ assert \\forall integer i; i == i;\n }",
    "pointer": "int main() { int x = 1; //@ assert \\valid(&x);\n }",
    "division by a variable": "int main() { int x = unknown(); //@ assert 4 / x < 9;\n }",
    "directions": "int main() { //@ assert 1 < 2 > 1;\n }",
    "unknown name": "int main() { //@ assert nobody == 1;\n }",
    "ghost": "int main() { /*@ ghost int g = 1; */ /*@ assert g == 1; */ }",
    "result outside": "int main() { //@ assert \\result == 1;\n }",
    "incomplete": "int main() { int x = 1; //@ assert x ==;\n }",
    "too much": "int main() { int x = 1; //@ assert x == 1 1;\n }",
    "no keyword": "int main() { int x = 1; //@ x == 2;\n }",
    "misspelt": "int main() { int x = 1; //@ asert x == 2;\n }",
    "for a behaviour": "int main() { int x = 1; //@ for b: assert x == 2;\n }",
    "contract of a statement": "int main() { int x = 1; /*@ requires x == 2; */ x = 3; }",
    "bits": "int main() { int x = 1; //@ assert (x & 1) == 1;\n }",
    "requires": "/*@ requires \\valid(p); */ int main(int p) { return 0; }",
    "predicate": "//@ predicate small(integer n) = n < 9;\n"
    "int main() { int x = 1; //@ assert small(x);\n }",
    "in an expression": "int main() { int x = 1 + /*@ assert \\false; */ 2; }",
    "before a struct": "/*@ requires 1 == 2; */ struct s { int a; };\nint main() { assert(1); }",
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_true(name):
    verdict = judged(SAFE[name])
    assert verdict.outcome is Outcome.SAFE, verdict.reason


@pytest.mark.parametrize("name", UNSAFE)
def test_false(name):
    verdict = judged(UNSAFE[name])
    assert verdict.outcome is Outcome.UNSAFE, verdict.reason


@pytest.mark.parametrize("name", NOT_UNDERSTOOD)
def test_not_understood(name):
    verdict = judged(NOT_UNDERSTOOD[name])
    assert verdict.outcome is Outcome.UNKNOWN
    assert (
        "annotation" in verdict.reason and "p.c:2" in verdict.reason
    ) or "p.c:3" in verdict.reason


def test_what_is_left_out_is_noted():
    text = (
        "//@ lemma small: 1 < 2;\n"
        "/*@ assigns \\nothing; */ int main() { int i = 0;\n"
        "/*@ loop invariant \\exists integer k; k == k; loop variant 9 - i; */\n"
        "while (i < 9) i++;\n//@ loop invariant i > 0;\n i = 3; assert(i == 3); }"
    )
    verdict = judged(text)
    assert verdict.outcome is Outcome.SAFE
    notes = "\n".join(verdict.as_dict()["warnings"])
    for said in (
        "loop invariant \\exists integer k; k == k was not understood",
        "'loop variant' is a claim that was NOT checked, first at p.c:4:47",
        "'assigns' is a claim that was NOT checked, first at p.c:3:5",
        "'lemma' is a claim that was NOT checked, first at p.c:2:5",
        "the loop invariant i > 0 stands before no loop at p.c:6:5",
    ):
        assert said in notes, notes


def test_false_claims_that_are_not_checked_are_named():
    text = (
        "int g;\n/*@ assigns \\nothing; behavior a: assumes x > 0; ensures \\result == 1;\n"
        "behavior b: assumes x > 5; ensures \\result == 1;\n"
        "complete behaviors a, b; disjoint behaviors a, b; */\n"
        "int f(int x) { g = 1; return 1; }\nint main() { assert(f(unknown()) == 1); }"
    )
    verdict = judged(text)
    assert verdict.outcome is Outcome.SAFE
    notes = "\n".join(verdict.as_dict()["warnings"])
    for kind in ("assigns", "complete", "disjoint"):
        assert f"'{kind}' is a claim that was NOT checked" in notes, notes


def test_a_contract_without_a_body_is_said_to_be_assumed():
    text = "/*@ ensures \\false; assigns \\nothing; */ int f(void);\nint main() { f(); assert(0); }"
    verdict = judged(text)
    assert verdict.outcome is Outcome.SAFE
    found = verdict.as_dict()
    assert found["without_body"] == ["f"]
    assert ["its contract is assumed" in said for said in found["warnings"]] == [True]
    assert found["assumptions"] == ["the contract of 'f'"]


def test_a_loop_invariant_is_tried():
    """The search alone does not find this one as quickly."""
    text = (
        "int main() { int i = 0, a = 0, b = 0;\n"
        "/*@ loop invariant a == 7 * i && b == 5 * i - 3 * 0; */\n"
        "while (unknown()) { i++; a += 7; b += 5; }\n assert(5 * a == 7 * b); }"
    )
    program = parse_program(HEAD + text)
    assert program.graph is not None
    (loop,) = program.graph.loops.values()
    assert len(loop.hints) == 1
    assert verify(program).outcome is Outcome.SAFE


def test_our_own_annotations_are_read_again():
    text = HEAD + (
        "int main() { int n = unknown(), i = 0;\n  if (n < 0) return 0;\n"
        "  while (i < n) i++;\n  assert(i == n);\n}\n"
    )
    program = parse_program(text, file="p.c")
    annotated = acsl(program, verify(program))
    again = parse_program(annotated, file="p.c")
    verdict = verify(again)
    assert verdict.outcome is Outcome.SAFE and verdict.remarks is not None
    assert len(verdict.remarks.properties) == 2  # the assertion, and its annotation
    assert again.graph is not None and any(loop.hints for loop in again.graph.loops.values())
    acsl(again, verdict)
