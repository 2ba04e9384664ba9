"""The methods of proof, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._errors import InputError

if TYPE_CHECKING:
    from ...formulas import Method

METHODS = ("default", "two-stage", "one-stage", "zero-stage", "spacer", "portfolio")
"""Names of the ways to search; `default` is the one to use."""


def search_method(name: str) -> Method:
    """The chain that a method's name stands for; rates as measured best for proofs."""
    from ...formulas import focused_gibbs, one_stage, two_stage, zero_stage

    if name in ("default", "portfolio"):
        return focused_gibbs(beta=1.5, focus=0.7, epsilon=0.01)
    if name == "two-stage":
        return two_stage(beta=1.5)
    if name == "one-stage":
        return one_stage(beta=1.5)
    if name == "zero-stage":
        return zero_stage(beta=1.5)
    raise InputError(f"unknown method {name!r}: use one of {', '.join(METHODS)}")
