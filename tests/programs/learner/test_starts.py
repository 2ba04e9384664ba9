"""Inputs that take a run into the first loop."""

import random

from doeblin.programs import parse_program
from doeblin.programs.learner._starts import Starts, demanded


def test_runs_start_within_what_the_program_assumes():
    program = parse_program("""int main() {
      int n = unknown(), m = unknown(), k = unknown(), i = 0;
      if (!(10 <= n && n < 200)) return 0;
      assume(m > -5); assume(!(m >= 8 || k == 3));
      while (i < n) i++;
      assert(i == n);
    }""")
    starts, rng = Starts(program.system), random.Random(0)
    for _ in range(200):
        values = sorted(starts.draw(rng, anywhere=0.5).values())
        assert len(values) == 2 and -4 <= values[0] <= 7 and 10 <= values[1] <= 199


def test_loops_demand_what_every_way_on_needs():
    program = parse_program("""int main() {
      int i = 0, x = 0, y = 0, n = unknown();
      while (i < n) {
        int one = unknown(), other = unknown();
        if (one < 0 || one > 2) return 0;
        if (other < 5) x++; else y = other;
        i++;
      }
      assert(x + y >= 0);
    }""")
    assert [*demanded(program.system).values()] == [(0, 2)]
