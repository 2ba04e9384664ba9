"""Linear Horn clauses over integers: what every front end becomes, and all that the prover sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..._errors import Place
from .terms import Term, compare, conj, const, var


@dataclass(frozen=True, slots=True)
class Cut:
    """A place that needs an invariant (a loop head, an unknown predicate) and its variables.

    `ranges` are facts of the variables' types, true in every reachable state. The last variables
    may be `products` of others.
    """

    name: str
    variables: tuple[str, ...]
    shown: tuple[str, ...]
    ranges: tuple[tuple[int | None, int | None], ...]
    place: Place
    block: int = -1
    products: tuple[tuple[str, str], ...] = ()

    @property
    def plain(self) -> tuple[str, ...]:
        """The variables that are no products."""
        return self.variables[: len(self.variables) - len(self.products)]

    def facts(self) -> Term:
        """The ranges as one term."""
        bounds = []
        for name, (low, high) in zip(self.variables, self.ranges, strict=True):
            if low is not None:
                bounds.append(compare("<=", const(low), var(name)))
            if high is not None:
                bounds.append(compare("<=", var(name), const(high)))
        return conj(bounds)


class Input(NamedTuple):
    """A free variable of a clause: the value that the program's `variable` takes at a `site` where
    it reads one, or (without a site) has before any is given to it."""

    name: str
    variable: str | None = None
    site: int | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """invariant(source) and constraint imply invariant(target)(args).

    `source` None: a start. `target` None: a failure, i.e. the premise must be impossible.
    The source's variables appear under their own names; `inputs` are the other free variables.
    A clause that stands for many turns of a loop says how many by the variable `turns`.
    """

    source: int | None
    constraint: Term
    target: int | None
    args: tuple[Term, ...]
    inputs: tuple[Input, ...]
    place: Place | None = None
    turns: str | None = None

    def names(self) -> list[str]:
        """All free variables beside the source's."""
        return [item.name for item in self.inputs] + ([self.turns] if self.turns else [])

    def sites(self, values: Mapping[str, int]) -> dict[int, int]:
        """The inputs among the values of a model, by the sites that read them."""
        return {
            item.site: values[item.name]
            for item in self.inputs
            if item.site is not None and item.name in values
        }


@dataclass(frozen=True, slots=True)
class System:
    """Cut points and the clauses between them.

    `open` are the places of failures that a clause is about; others were excluded when constants
    were folded.
    """

    cuts: tuple[Cut, ...]
    clauses: tuple[Clause, ...]
    open: frozenset[Place] = frozenset()
