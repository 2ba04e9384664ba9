"""Ways to a verdict: each is a `Strategy`, and the `Portfolio` gives them their turns.

Lemmas, polynomials, search and the assertion itself look for a proof; bounded search, acceleration
and long runs for a failure; Spacer for either. The `Judge` says the verdict, and `decide` chooses
the integers.
"""

from ._integers import assumptions, decide
from ._judge import Judge, Request
from ._polynomials import POLYNOMIALS
from ._portfolio import Portfolio
from ._strategy import Strategy
from ._vacuity import vacuous

__all__ = [
    "POLYNOMIALS",
    "Judge",
    "Portfolio",
    "Request",
    "Strategy",
    "assumptions",
    "decide",
    "vacuous",
]
