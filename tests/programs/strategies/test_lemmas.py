"""Proofs by lemmas alone."""

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, Tunables, parse_program, verify, without_sources
from doeblin.programs.learner import Knowledge, Progress, Subject, multiplies, with_products
from doeblin.programs.lemmas import SOURCES, STAGES
from doeblin.programs.solve import Budget, finish, recheck
from doeblin.programs.strategies import Judge, Request
from doeblin.programs.strategies._lemmas import Lemmas


@pytest.mark.parametrize(
    "text",
    [
        # Each attempt is bounded, and so is their sum: coefficients in several loops at once.
        """int main() {
          int n = unknown(), sent = 0, lost = 0, tries, all = 0;
          if (n <= 0) return 0;
        next:
          if (sent + lost == n) goto out;
          tries = 0;
        retry:
          tries++; all++;
          if (unknown() > 0) { sent++; goto next; }
          if (tries < 4) goto retry;
          lost++;
          goto next;
        out:
          assert(all >= n && all <= 4 * n && all >= sent + 4 * lost);
        }""",
        # A fact about inputs of either sign travels through four loops.
        """int main() {
          int a = unknown(), b = unknown(), k = 0, i;
          for (i = 0; i < a; i++) k++;
          for (i = 0; i < b; i++) k++;
          for (i = 0; i < b; i++) k--;
          for (i = 0; i < a; i++) { assert(k > 0); k--; }
        }""",
        # Three variables are even together, none of them alone.
        """int main() {
          int a = 0, b = 0, c = 0;
          while (unknown()) {
            if (unknown()) { a++; b++; } else if (unknown()) { b += 3; c--; } else { a -= 5; c++; }
          }
          assert(a + b + c != 7);
        }""",
        # Products, of which six variables would have too many.
        """int main() {
          int x = unknown(), y = unknown(), q = 0, r = x, a = 0, b = 0;
          assume(x >= 0 && y >= 1);
          while (r >= y) {
            for (a = 1, b = y; r >= 2 * b; ) { assert(b == y * a); a = 2 * a; b = 2 * b; }
            r = r - b; q = q + a;
          }
          assert(x == q * y + r);
        }""",
    ],
)
def test_what_lemmas_prove(text):
    """By lemmas alone, without any help; a fresh solver agrees."""
    program = parse_program(text)
    system = with_products(program.system) if multiplies(program.system) else program.system
    with Budget(60) as budget:
        judge = Judge(program, budget, Request(), Progress())
        subject = Subject(system, program.graph, program.interpreter)
        knowledge = Knowledge(subject, budget, 0, Tunables())
        knowledge.gather()
        verdict = finish(Lemmas(knowledge, judge, STAGES).run())
        assert verdict is not None and verdict.outcome is Outcome.SAFE
        assert verdict.found_by == "lemmas" and verdict.sources
        terms = [invariant.formula for invariant in verdict.invariants]
        assert recheck(program.system, terms, budget) is None


EQUAL = "int main() { int x = 0, y = 0; while (unknown()) { x += 2; y += 2; } assert(x + 7 != y); }"


def test_a_source_that_is_switched_off_proposes_nothing():
    found = verify(parse_program(EQUAL), timeout=20)
    assert (found.found_by, found.sources) == ("lemmas", ("equations",))
    other = verify(parse_program(EQUAL), timeout=20, tunables=without_sources(["equations"]))
    assert other.outcome is Outcome.SAFE and "equations" not in other.sources
    none = verify(parse_program(EQUAL), timeout=20, tunables=without_sources(list(SOURCES)))
    assert none.outcome is Outcome.SAFE and none.found_by != "lemmas" and not none.sources


def test_an_unknown_source_is_an_error_with_the_names():
    with pytest.raises(InputError, match=r"'facet': use one of hints, .*facets"):
        without_sources(["facet"])
