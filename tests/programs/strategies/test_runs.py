"""Failures that runs of the program find."""

import pytest

from doeblin.programs import Outcome, parse_program, verify


@pytest.mark.parametrize(
    "text",
    [
        # One value of the input's range, known only deep inside.
        pytest.param(
            """int main() {
          int n = unknown(), m = unknown(), i, j, k = 0;
          assume(n >= 60 && n <= 100 && m >= 60 && m <= 100);
          for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
            k++;
            if (i == 50 && j == 50) assert(k != 3301);
          }
        }""",
            marks=pytest.mark.thorough,
        ),
        # Hundreds of turns in which the same inputs come again and again.
        """int main() {
          int a = 0, b = 1, run = 0, idle = 0, turn = 0, t;
          for (t = 0; t < 2000; t++) {
            int w = unknown();
            if (w == 1) a = 1; else if (w == 2) b = 1;
            if (run == 0 || turn >= 4) { run = a ? 1 : b ? 2 : 0; turn = 0; }
            turn++;
            if (run != 2 && b) idle++;
            if (unknown()) { if (run == 1) a = 0; else if (run == 2) { b = 0; idle = 0; } run = 0; }
            assert(idle < 150);
          }
        }""",
    ],
)
def test_failures_that_runs_reach(text):
    assert verify(parse_program(text), timeout=20).outcome is Outcome.UNSAFE
