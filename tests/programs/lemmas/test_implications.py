"""The cases of which implications speak."""

from doeblin.programs.lemmas._implications import phases

from .contexts import context_of


def test_phases_are_between_the_constants_that_a_variable_is_compared_with():
    space = context_of(
        """int main() { int x = 0, y = 0;
      while (x < 1000) { if (x < 250) y++; else if (x >= 750) y--; x++; }
      assert(y == 0); }"""
    ).space
    at = space.cut.shown.index("x")
    up, down = space.unit(at), space.unit(at, -1)
    found = {
        (-low.constant, high.constant)
        for low, high in phases(space, 8)
        if (low.coefficients, high.coefficients) == (down, up)
    }
    assert {(250, 750), (750, 1000)} <= found
