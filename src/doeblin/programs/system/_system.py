"""Horn clauses over integers: what every front end becomes, and all that the prover sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from ..._errors import Place
from .terms import Term, compare, conj, const, substitute, var, variables

T = TypeVar("T")


class Bank(NamedTuple):
    """An array in a clause: the range of its cells, and that of their type. It belongs to the
    program's array `variable`, which people know as `shown`; one that is filled with arbitrary
    values has the `site` of it. Its cells may be counted from where a variable of the cut, its
    `base`, points."""

    name: str
    low: int | None
    high: int | None
    bounds: tuple[int | None, int | None]
    variable: str
    shown: str
    site: int | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Extra:
    """A variable of a cut that is a cell of an array at some index, or the sum of all cells from 0
    up to it; the index is made of the cut's other variables. A cell is `near` beside any one place,
    or where the program itself looks."""

    name: str
    array: str
    index: Term
    kind: Literal["cell", "sum"]
    near: bool = False


class Cells(NamedTuple):
    """A cut's variables that stand for any one place of its arrays: the index, for each array what
    it has there, and what else depends on the arrays."""

    at: str
    of: dict[str, str]
    more: tuple[Extra, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All variables that are not the program's own."""
        return (self.at, *self.of.values(), *(extra.name for extra in self.more))

    @property
    def local(self) -> set[str]:
        """Those that depend on the place that is looked at."""
        mapped = {extra.name for extra in self.more if self.at in variables(extra.index)}
        return {self.at, *self.of.values(), *mapped}


@dataclass(frozen=True, slots=True)
class Cut:
    """A place that needs an invariant (a loop head, an unknown predicate) and its variables.

    `ranges` are facts of the variables' types, true in every reachable state; `formats` are the
    widths of those variables that are floating point. The last variables may be `products` of
    others. Where states have `arrays`, a `System` of integers has variables for their `cells`: the
    invariant holds for every index.
    """

    name: str
    variables: tuple[str, ...]
    shown: tuple[str, ...]
    ranges: tuple[tuple[int | None, int | None], ...]
    place: Place
    block: int = -1
    products: tuple[tuple[str, ...], ...] = ()
    arrays: tuple[Bank, ...] = ()
    cells: Cells | None = None
    formals: tuple[str, ...] = ()  # of a predicate with arrays, in the order of the file
    formats: Mapping[str, int] = field(default_factory=dict)

    @property
    def plain(self) -> tuple[str, ...]:
        """The variables that are no products."""
        return self.variables[: len(self.variables) - len(self.products)]

    def state(self, names: Sequence[str] | None = None) -> list[Term]:
        """The variables, or as many others in their place, each with its format."""
        pairs = zip(names or self.variables, self.variables, strict=True)
        return [var(name, self.formats.get(own)) for name, own in pairs]

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
    it reads one, or (without a site) has before any is given to it. One of floating point has the
    width of its format."""

    name: str
    variable: str | None = None
    site: int | None = None
    bits: int | None = None

    @property
    def term(self) -> Term:
        return var(self.name, self.bits)


class Premise(NamedTuple):
    """The invariant of a cut, of the state that the variables of these names hold, and `arrays`,
    where the system has them as they are."""

    cut: int
    names: tuple[str, ...]
    arrays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """The invariants of all premises and the constraint imply invariant(target)(args).

    No premise: a start. `target` None: a failure, i.e. the premises must be impossible together.
    The first premise of a step from a cut, its `source`, is about that cut's variables under their
    own names; no name is in two premises, unless they are about the same state. `inputs` are the
    other free variables. A clause that stands for many turns of a loop says how many by the
    variable `turns`. `arrays` are those of the target, and `banks` those that are free beside the
    source's.
    """

    premises: tuple[Premise, ...]
    constraint: Term
    target: int | None
    args: tuple[Term, ...]
    inputs: tuple[Input, ...]
    place: Place | None = None
    turns: str | None = None
    banks: tuple[Bank, ...] = ()
    arrays: tuple[Term, ...] = ()

    @property
    def source(self) -> int | None:
        """The cut that a step leaves: of the first premise."""
        return self.premises[0].cut if self.premises else None

    def at_premises(self, of: Sequence[T]) -> list[T]:
        """What belongs to the cut of each premise, of what there is for each cut."""
        return [of[premise.cut] for premise in self.premises]

    def names(self) -> list[str]:
        """All free variables beside those of the premises."""
        return [item.name for item in self.inputs] + ([self.turns] if self.turns else [])

    def free(self) -> list[Term]:
        """The same, each with its format."""
        found = [item.term for item in self.inputs]
        return [*found, var(self.turns)] if self.turns else found

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
    were folded. `floating`: there are variables or conditions in floating point.
    """

    cuts: tuple[Cut, ...]
    clauses: tuple[Clause, ...]
    open: frozenset[Place] = frozenset()
    floating: bool = False

    @property
    def cellular(self) -> bool:
        """Are there arrays?"""
        held = any(cut.arrays for cut in self.cuts)
        return held or any(clause.banks for clause in self.clauses)

    @property
    def linear(self) -> bool:
        """Does every step lead from one state to the next, so that a derivation is a path?"""
        return all(
            not clause.premises
            or [premise.names for premise in clause.premises]
            == [self.cuts[clause.premises[0].cut].variables]
            for clause in self.clauses
        )

    def at(self, premise: Premise, term: Term) -> Term:
        """What is said of a cut's variables, said of the premise's."""
        cut = self.cuts[premise.cut]
        if cut.variables == premise.names:
            return term
        return substitute(term, dict(zip(cut.variables, cut.state(premise.names), strict=True)))

    def assumed(self, clause: Clause, terms: Sequence[Term]) -> list[Term]:
        """What the premises of a clause say, if the cuts have these invariants."""
        return [self.at(premise, terms[premise.cut]) for premise in clause.premises]
