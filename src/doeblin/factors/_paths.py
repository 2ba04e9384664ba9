"""Potentials along paths of sites, through an automaton: n-grams of any order, and word lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._automaton import Automaton, Pattern, ngrams
from .._custom_types import Scalar
from .._errors import InputError
from .._numbers import whole
from ._potentials import AbstractFunction

BOUNDARY = -1
"""Stands for what is before and after a path."""


class AlongPath(AbstractFunction):
    """The scores of an automaton: of each value after each state, and of each state at the end.

    What can be known of the past of a place is in the last `order` - 1 values, so that the values
    of one place are scored by as many before and after it.
    """

    ways: Float[Array, "states values"]
    ends: Float[Array, " states"]
    target: Int[Array, "states values"]
    order: int = eqx.field(static=True)

    def __call__(self, values: Int[Array, " places"], features: Any) -> Scalar:
        def step(carry: tuple[Array, Array], value: Array) -> tuple[tuple[Array, Array], None]:
            state, total = carry
            there, known = value >= 0, jnp.maximum(value, 0)
            total += jnp.where(there, self.ways[state, known], 0)
            return (jnp.where(there, self.target[state, known], state), total), None

        start = (jnp.array(self._boundary, jnp.int32), jnp.zeros((), self.ways.dtype))
        (state, total), _ = jax.lax.scan(step, start, values)
        return total + self.ends[state]

    def scores(
        self, values: Int[Array, " places"], place: Any, num_values: int, features: Any
    ) -> Float[Array, " values"]:
        length, reach = (values >= 0).sum(), self.order - 1

        def before(state: Array, back: Array) -> tuple[Array, None]:
            at = place - back
            value = jnp.maximum(values[jnp.maximum(at, 0)], 0)
            # What is farther back makes no difference: then a single value is all that is known.
            known = jnp.where((back == reach) & (at > 0), value, self.target[state, value])
            return jnp.where(at < 0, self._boundary, known).astype(jnp.int32), None

        def after(carry: tuple[Array, Array], ahead: Array) -> tuple[tuple[Array, Array], None]:
            states, total = carry
            at = place + ahead
            value = jnp.maximum(values[jnp.minimum(at, values.shape[0] - 1)], 0)
            inside = at < length
            total += jnp.where(inside, self.ways[states, value], 0)
            total += jnp.where(at == length, self.ends[states], 0)
            return (jnp.where(inside, self.target[states, value], states), total), None

        start = jnp.array(self._boundary, jnp.int32)
        state, _ = jax.lax.scan(before, start, jnp.arange(reach, 0, -1))
        # The graph's sites may have more values than the automaton; then these do not.
        each = jnp.minimum(jnp.arange(num_values), self._boundary - 1)
        reached = (self.target[state, each], self.ways[state, each])
        return jax.lax.scan(after, reached, jnp.arange(1, reach + 1))[0][1]

    def silenced(self) -> AlongPath:
        return eqx.tree_at(
            lambda own: (own.ways, own.ends), self, replace_fn=lambda leaf: jnp.zeros_like(leaf)
        )

    @property
    def _boundary(self) -> int:
        return self.ways.shape[1]


class _Machine(eqx.Module):
    """An automaton, and which patterns end with each edge and with each state's end."""

    edge: Int[Array, "states values"]
    target: Int[Array, "states values"]
    edge_patterns: Int[Array, "edges depth"]
    end_patterns: Int[Array, "states depth"]
    order: int = eqx.field(static=True)

    @classmethod
    def of(cls, patterns: Sequence[Pattern], num_values: int) -> _Machine:
        inner = [tuple(num_values if s == BOUNDARY else s for s in each) for each in patterns]
        found = Automaton.of(inner, num_values)
        edges = [
            _chain(edge, found.edge_parent, found.edge_pattern)
            for edge in range(len(found.edge_parent))
        ]
        ends = [
            _chain(state, found.fallback, found.end_pattern) for state in range(found.num_states)
        ]
        # The last row is that of no edge, which is counted from the end.
        edge, target, edges, ends = (
            jnp.asarray(each)
            for each in (found.edge, found.target, _rows([*edges, []]), _rows(ends))
        )
        return cls(edge, target, edges, ends, max(map(len, inner)))

    def scored(self, weights: Float[Array, " patterns"]) -> AlongPath:
        known = jnp.append(weights, 0.0)
        ways = known[self.edge_patterns].sum(axis=1)[self.edge]
        return AlongPath(ways, known[self.end_patterns].sum(axis=1), self.target, self.order)

    @property
    def num_values(self) -> int:
        return self.edge.shape[1]


class NGrams(AbstractFunction):
    """A weight for each of some n-grams (two values or more), wherever one occurs along the path of
    sites that a factor's scope is; -1 in an n-gram is the boundary before and after the path.

    To redraw a site costs its window, however long the path is. Paths of different lengths are
    filled up by -1 at the end of their scopes.

    >>> trigrams = NGrams({(0, 1, 0): 2.0, (-1, 1): 0.5}, num_values=2)
    >>> float(trigrams(jnp.array([1, 0, 1, 0, 1, 0]), None))
    4.5
    """

    weights: Float[Array, " patterns"]
    machine: _Machine

    def __init__(self, weights: Mapping[Pattern, float], num_values: int):
        whole("num_values", num_values, least=1)
        if not isinstance(weights, Mapping) or not weights:
            raise InputError(
                f"the n-grams are {weights!r}; give their weights, as in {{(0, 1, 0): 1.0}}"
            )
        patterns = [_checked_pattern(each, num_values) for each in weights]
        self.weights = _numbers("the n-grams have weights", list(weights.values()))
        self.machine = _Machine.of(patterns, num_values)

    @classmethod
    def seen(
        cls, sequences: Iterable[Sequence[int]], orders: Iterable[int], num_values: int
    ) -> NGrams:
        """Weights of zero for all n-grams of some orders that occur in sequences, boundaries
        counted in; those that touch a missing value (-1) are left out."""
        if not isinstance(orders, Iterable):
            raise InputError(f"orders = {orders!r} must be several, as in (2, 3)")
        whole("num_values", num_values, least=1)
        wanted = [whole("orders", order, least=2) for order in orders]
        own = [_checked_sequence(each, num_values) for each in sequences]
        found = [each for each in ngrams(own, wanted, num_values) if BOUNDARY not in each]
        if not found:
            raise InputError(
                f"{len(own)} sequences have no n-grams of orders {wanted} without a missing value; "
                "give longer ones, or lower orders"
            )
        return cls(
            {tuple(BOUNDARY if s == num_values else s for s in each): 0.0 for each in found},
            num_values,
        )

    def __call__(self, values: Int[Array, " places"], features: Any) -> Scalar:
        return self.prepared()(values, features)

    def prepared(self) -> AlongPath:
        return self.machine.scored(self.weights)

    def silenced(self) -> NGrams:
        return eqx.tree_at(lambda own: own.weights, self, jnp.zeros_like(self.weights))


class Listed(NamedTuple):
    """All words of a list, filled up by -1, and what each of them scores."""

    words: Int[Array, "words places"]
    scores: Float[Array, " words"]


class Words(AbstractFunction):
    """A score if the values along the path of sites, from its first to its last, are a listed word:
    weights[0] + weights[1] · what the list says of it (as the logarithm of its frequency).

    [`WordMetropolis`][doeblin.factors.WordMetropolis] proposes whole words.

    >>> words = Words({(0, 1, 1): -0.5, (1,): 0.0}, num_values=2, weights=(3.0, 2.0))
    >>> float(words(jnp.array([0, 1, 1]), None)), float(words(jnp.array([0, 1, 0]), None))
    (2.0, 0.0)
    """

    weights: Float[Array, "2"]
    machine: _Machine
    listed: Int[Array, "words places"]
    bits: Int[Array, " words"]
    """What the list says, as bits: whole numbers are not learned."""

    def __init__(
        self,
        words: Mapping[tuple[int, ...], float] | Iterable[tuple[int, ...]],
        num_values: int,
        *,
        weights: Any = (0.0, 1.0),
    ):
        whole("num_values", num_values, least=1)
        given = words if isinstance(words, Mapping) else dict.fromkeys(map(tuple, words), 0.0)
        if not given:
            raise InputError("the list has no words; give at least one, as in [(0, 1, 1)]")
        own = [_checked_word(word, num_values) for word in given]
        numbers = np.asarray(_numbers("the list says", list(given.values())), dtype=np.float32)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            raise InputError(
                f"the list says {numbers[wrong[0]]} of word {own[wrong[0]]}; numbers must be finite"
            )
        self.weights = jnp.asarray(weights, dtype=float)
        if self.weights.shape != (2,):
            raise InputError(
                f"weights = {weights!r} must be two: of being listed, and of the list's numbers"
            )
        self.machine = _Machine.of([(BOUNDARY, *word, BOUNDARY) for word in own], num_values)
        self.listed = jnp.asarray(_rows(own))
        self.bits = jnp.asarray(numbers.view(np.int32))

    def __call__(self, values: Int[Array, " places"], features: Any) -> Scalar:
        return self.prepared()(values, features)

    def prepared(self) -> AlongPath:
        return self.machine.scored(self.scored().scores)

    def scored(self) -> Listed:
        numbers = jax.lax.bitcast_convert_type(self.bits, jnp.float32)
        return Listed(self.listed, self.weights[0] + self.weights[1] * numbers)

    def silenced(self) -> Words:
        return eqx.tree_at(lambda own: own.weights, self, jnp.zeros_like(self.weights))


def check_path(name: str, potential: NGrams | Words, scopes: Any, num_values: Any) -> None:
    """Refuse paths with gaps, and sites of more values than the potential knows."""
    scopes, known = np.asarray(scopes), potential.machine.num_values
    gap = np.argwhere((scopes[:, :-1] < 0) & (scopes[:, 1:] >= 0))
    if len(gap):
        factor, place = gap[0]
        raise InputError(
            f"factor {factor} of {name!r} has no site at place {place}, and one after it; a path "
            "is filled up by -1 at its end"
        )
    most = np.where(scopes >= 0, np.asarray(num_values)[scopes], 0)
    wrong = np.argwhere(most > known)
    if len(wrong):
        factor, place = wrong[0]
        raise InputError(
            f"factor {factor} of {name!r} is over site {scopes[factor, place]} with "
            f"{most[factor, place]} values, and its potential was made for num_values = {known}"
        )


def _checked_pattern(pattern: Any, num_values: int) -> Pattern:
    found = tuple(pattern)
    for place, symbol in enumerate(found):
        inner = 0 < place < len(found) - 1
        if symbol != BOUNDARY or inner:
            more = ", and -1 first or last for the boundary"
            _check_value(symbol, f"n-gram {found}", num_values, more)
    if len(found) < 2:
        raise InputError(f"n-gram {found} needs two values; single ones are factors of one site")
    return tuple(map(int, found))


def _checked_word(word: Any, num_values: int) -> Pattern:
    found = tuple(word)
    if not found:
        raise InputError("a word of the list is empty; leave it out")
    for value in found:
        _check_value(value, f"word {found}", num_values)
    return tuple(map(int, found))


def _checked_sequence(sequence: Any, num_values: int) -> Pattern:
    found = tuple(sequence)
    for value in found:
        if value != BOUNDARY:
            more = ", and -1 for what is missing"
            _check_value(value, f"sequence {found}", num_values, more)
    return tuple(map(int, found))


def _check_value(value: Any, what: str, num_values: int, more: str = "") -> None:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not 0 <= value < num_values:
        raise InputError(
            f"{what} has {value!r}; values are whole numbers from 0 to {num_values - 1}{more}"
        )


def _numbers(what: str, numbers: list[Any]) -> Array:
    try:
        return jnp.asarray(numbers, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} {numbers!r}; all must be numbers") from None


def _chain(start: int, parent: Any, pattern: Any) -> list[int]:
    """The patterns of an edge or a state and of all that it falls back on."""
    found = []
    while start >= 0:
        found += [int(pattern[start])] if pattern[start] >= 0 else []
        start = int(parent[start])
    return found


def _rows(rows: Sequence[Sequence[int]]) -> np.ndarray:
    table = np.full((len(rows), max(1, *map(len, rows))), -1, np.int32)
    for row, entries in zip(table, rows, strict=True):
        row[: len(entries)] = entries
    return table
