"""What is claimed of one cell, or of the variables beside the arrays."""

from __future__ import annotations

import pytest

from doeblin.programs import Outcome, parse_program, verify


@pytest.mark.parametrize(
    ("value", "claim", "false"),
    [
        ("6 * x + 1", "a[i] % 6 == 1", "a[i] % 6 == 0"),
        pytest.param(
            "x > 3 && x < 9 ? x : 40",
            "a[i] == 40 || (a[i] > 3 && a[i] < 9)",
            "a[i] != 40",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_what_is_claimed_of_a_cell_is_tried_of_all(value, claim, false):
    text = f"""int main(void) {{ int n = unknown(), a[9]; assume(0 <= n && n <= 9);
      for (int i = 0; i < n; i++) {{ int x = unknown(); assume(0 <= x && x < 99); a[i] = {value}; }}
      for (int i = 0; i < n; i++) assert({claim}); }}"""
    assert verify(parse_program(text), timeout=60).outcome is Outcome.SAFE
    assert verify(parse_program(text.replace(claim, false)), timeout=30).outcome is Outcome.UNSAFE


def test_a_text_ends_where_its_end_was_stored():
    """That a place is not left behind is claimed of the variables that look there."""
    text = """extern char read(void);
    int main(void) { char line[13]; int at = 0, number = 0;
      for (int i = 0; i < 12; i++) line[i] = read();
      line[12] = 0;
      while (line[at] >= '0' && line[at] <= '7') { number = number % 100 * 8; at++; }
      assert(number >= 0); }"""
    assert verify(parse_program(text), timeout=60).outcome is Outcome.SAFE
    for wrong in (text.replace("line[12] = 0", "line[12] = '5'"), text.replace("[12] =", "[11] =")):
        outcome = verify(parse_program(wrong), timeout=30).outcome
        assert outcome is (Outcome.SAFE if "[11] =" in wrong else Outcome.UNSAFE)
