"""Candidates are dropped where they are false, and only there."""

import itertools

from doeblin.linear import EQ, LE, NE, Atom, dnf_holds
from doeblin.programs.lemmas._houdini import _Left

# Products and sums that leave 64 bits, and numbers that do not fit in to begin with.
LARGE = [0, 1, -1, 2**21, -(2**22), 2**23 + 1, -(2**62), 2**63 - 1, 2**63, -(2**70)]
POINTS = [(0, 0), (3, -1), (2**40, -(2**40)), (-(2**40), 2**40 - 1), (2**41, 7), (-(2**64), 2**63)]


def test_large_numbers_are_judged_exactly():
    formulas = [
        ((Atom((a, b), relation, constant, 0),),)
        for a, b, constant in itertools.product(LARGE, [1, 2**30], LARGE)
        for relation in (LE, EQ, NE)
    ]
    formulas += [((Atom((1, m), EQ, 1, m),),) for m in (2, 2**40 + 1, 2**63 + 1)]
    for point in POINTS:
        left = _Left(formulas, 2)
        left.restrict([point], sure=True)
        assert left.on == [dnf_holds(dnf, point) for dnf in formulas], point
