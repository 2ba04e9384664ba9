"""What follows from known bounds is not asked again."""

from hypothesis import given
from hypothesis import strategies as st

from doeblin.linear import LE, Atom, dnf_holds
from doeblin.programs.learner import new_formulas


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-9, 9)), max_size=12),
    st.integers(-4, 0),
    st.integers(0, 4),
    st.integers(-4, 4),
)
def test_formulas_left_out_follow_from_what_is_known(bounds, low, high, other):
    formulas = [((Atom((a, b), LE, c),),) for a, b, c in bounds if a or b]
    known = [((Atom((1, 0), LE, high),),), ((Atom((-1, 0), LE, -low),),)]
    ranges = [(None, None), (other, other + 3)]
    kept = new_formulas(formulas, known, ranges)
    for dnf in formulas:
        everywhere = all(
            dnf_holds(dnf, (x, y)) for x in range(low, high + 1) for y in range(other, other + 4)
        )
        assert dnf in kept or dnf in known or everywhere
        assert not (dnf in kept and everywhere)
