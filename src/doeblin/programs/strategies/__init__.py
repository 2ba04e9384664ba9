"""Ways to a verdict: each is a `Strategy`, and the `Portfolio` gives them their turns.

Lemmas, search and the assertion itself look for a proof; bounded search, acceleration and long runs
for a failure; Spacer for either. The `Judge` says the verdict, and `decide` chooses the integers.
"""

from ._integers import assumptions as assumptions
from ._integers import decide as decide
from ._judge import Judge as Judge
from ._judge import Request as Request
from ._portfolio import Portfolio as Portfolio
from ._strategy import Strategy as Strategy
