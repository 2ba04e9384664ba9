"""Linear Horn clauses over integers: what every front end becomes, and all that the prover sees."""

from __future__ import annotations

from dataclasses import dataclass

from ..._errors import Place
from ..terms import Term, compare, conj, const, var


@dataclass(frozen=True, slots=True)
class Cut:
    """A place that needs an invariant (a loop head, an unknown predicate) and its variables.

    `ranges` are facts of the variables' types, true in every reachable state.
    """

    name: str
    variables: tuple[str, ...]
    shown: tuple[str, ...]
    ranges: tuple[tuple[int | None, int | None], ...]
    place: Place
    block: int = -1

    def facts(self) -> Term:
        """The ranges as one term."""
        bounds = []
        for name, (low, high) in zip(self.variables, self.ranges, strict=True):
            if low is not None:
                bounds.append(compare("<=", const(low), var(name)))
            if high is not None:
                bounds.append(compare("<=", var(name), const(high)))
        return conj(bounds)


@dataclass(frozen=True, slots=True)
class Clause:
    """invariant(source) and constraint imply invariant(target)(args).

    `source` None: a start. `target` None: a failure, i.e. the premise must be impossible.
    The source's variables appear under their own names; `inputs` are the other free variables.
    """

    source: int | None
    constraint: Term
    target: int | None
    args: tuple[Term, ...]
    inputs: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class System:
    """Cut points and the clauses between them."""

    cuts: tuple[Cut, ...]
    clauses: tuple[Clause, ...]
