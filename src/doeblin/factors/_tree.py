"""Laws on forests, and on parts of bounded treewidth, by message passing: in the log domain, and
every message less its largest entry.

So float32 is enough, however many sites there are and however large the scores. A site that hangs
from several has a row for all their values together, the nearest site's being the first digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._custom_types import RandomKey, Scalar
from .._inversion import invert, random_words
from ._graph import Graph
from ._scores import AbstractScores, TableScores, inside
from ._structure import ABOVE, NOTHING

State = Int[Array, " sites"]


class TreeScores(eqx.Module):
    """Scores in u: of each site's values, and of each with all that the site hangs from."""

    sites: Float[Array, "sites values"]
    branches: Float[Array, "sites parents values"]

    def law(self, graph: Graph) -> TreeLaw:
        """The law ∝ exp(scores): messages from the leaves to the roots (sum-product)."""
        above, values = _extended(graph), self.sites.shape[1]

        def round(inbox: Array, sites: Array) -> tuple[Array, tuple[Array, Array]]:
            joint, tops, taken = _levelled_joint(inbox, branches, sites)
            sums = logsumexp(joint)
            possible = jnp.isfinite(sums)[..., None]
            law = jnp.where(possible, joint - jnp.where(possible, sums[..., None], 0), -jnp.inf)
            messages, taken = _levelled_messages(tops + sums, taken, sites)
            inbox = inbox.at[above[sites, 0]].add(_spread(messages, above, sites, values))
            return inbox, (law, taken)

        inbox, branches = self._start()
        inbox, (laws, taken) = jax.lax.scan(round, inbox, jnp.asarray(graph.rounds), reverse=True)
        # Where each site stands among the rounds.
        slots = jnp.zeros(len(above), jnp.int32)
        slots = slots.at[graph.rounds].set(
            jnp.arange(graph.rounds.size, dtype=jnp.int32).reshape(graph.rounds.shape)
        )
        conditionals = laws.reshape(-1, *laws.shape[2:])[slots[:-2]]
        return TreeLaw(conditionals, inbox[ABOVE, 0, 0] + taken.sum())

    def best(self, graph: Graph) -> tuple[State, Scalar]:
        """The state of the largest score, and its score (max-product)."""
        above, values = _extended(graph), self.sites.shape[1]

        def up(inbox: Array, sites: Array) -> tuple[Array, tuple[Array, Array]]:
            joint, tops, taken = _levelled_joint(inbox, branches, sites)
            messages, taken = _levelled_messages(tops + joint.max(axis=-1), taken, sites)
            choices = joint.argmax(axis=-1).astype(jnp.int32)
            inbox = inbox.at[above[sites, 0]].add(_spread(messages, above, sites, values))
            return inbox, (choices, taken)

        def down(state: Array, round: tuple[Array, Array]) -> tuple[Array, None]:
            sites, choices = round
            row = row_of(state, above[sites], values)
            return state.at[sites].set(jnp.take_along_axis(choices, row[:, None], 1)[:, 0]), None

        inbox, branches = self._start()
        inbox, (choices, taken) = jax.lax.scan(up, inbox, jnp.asarray(graph.rounds), reverse=True)
        state = jnp.zeros(len(above), jnp.int32)
        state = jax.lax.scan(down, state, (jnp.asarray(graph.rounds), choices))[0]
        return state[:-2], inbox[ABOVE, 0, 0] + taken.sum()

    def _start(self) -> tuple[Array, Array]:
        """What sites know before there are messages, and branches; with the rows for no site.

        A message is about all that a site hangs from: on a forest about one site, and there one row
        is enough.
        """
        rows, values = self.branches.shape[1:]
        rows = 1 if rows == values else rows
        own = jnp.concatenate([self.sites, jnp.zeros((2, values), self.sites.dtype)])
        branches = jnp.concatenate([self.branches, jnp.zeros((2, *self.branches.shape[1:]))])
        return jnp.broadcast_to(own[:, None], (len(own), rows, values)), branches


class TreeLaw(eqx.Module):
    """A normalised law: that of each site's value given those of the sites that it hangs from."""

    conditionals: Float[Array, "sites parents values"]
    log_partition: Scalar

    def sample(self, key: RandomKey, graph: Graph) -> State:
        """An exact draw, from the roots down."""
        above, values = _extended(graph), self.conditionals.shape[2]
        words = random_words(key, above.shape[:1])

        def round(state: Array, sites: Array) -> tuple[Array, None]:
            row = row_of(state, above[sites], values)
            logits = self.conditionals[jnp.maximum(sites, 0), row]
            return state.at[sites].set(invert(logits, words[sites])[0]), None

        state = jnp.zeros(len(above), jnp.int32)
        return jax.lax.scan(round, state, jnp.asarray(graph.rounds))[0][:-2]

    def log_prob(self, state: State, graph: Graph) -> Scalar:
        """Of a state in range; sites beyond the graph's have 0."""
        state = jnp.asarray(state)
        found = self.log_probs(state, graph)
        found = jnp.where(jnp.arange(state.shape[0]) < graph.num_sites, found, 0).sum()
        known = ((state >= 0) & (state < graph.num_values)).all()
        return jnp.where(known, found, -jnp.inf)

    def log_probs(self, state: State, graph: Graph) -> Float[Array, " sites"]:
        """Of the value of each site, given those of the sites that it hangs from."""
        extended = jnp.concatenate([state, jnp.zeros(2, state.dtype)])
        row = row_of(extended, jnp.asarray(graph.above), self.conditionals.shape[2])
        return self.conditionals[jnp.arange(state.shape[0]), row, state]

    def marginals(self, graph: Graph) -> Float[Array, "sites values"]:
        """P(value) of each site: messages from the roots to the leaves."""
        above = _extended(graph)
        law = jnp.exp(self.conditionals)
        rows, values = law.shape[1:]

        def round(found: Array, sites: Array) -> tuple[Array, None]:
            parents = _gathered(found[above[sites, 0]], above, sites, rows)
            here = parents[:, :, None] * law[jnp.maximum(sites, 0)]
            # Rounding errors of sums would grow along the branches.
            here = here / here.sum(axis=(1, 2), keepdims=True)
            return found.at[sites].set(here if above.shape[1] > 1 else here.sum(1)[:, None]), None

        found = jnp.zeros((len(above), rows if above.shape[1] > 1 else 1, values), law.dtype)
        found = found.at[:, 0, 0].set(1)
        return jax.lax.scan(round, found, jnp.asarray(graph.rounds))[0][:-2].sum(axis=1)


def on_forest(graph: Graph, scores: Mapping[str, AbstractScores]) -> TreeScores:
    """The scores of the factors in u, by site and by branch; all others are zero."""
    values, size = graph.most_values, len(graph.num_values)
    sites = jnp.zeros((size + 2, values))
    for name, kind in graph.kinds.items():
        own = scores[name]
        if kind.scopes.shape[1] == 1 and isinstance(own, TableScores):
            tables = jnp.where(kind.on_tree[:, None], _filled(own.each(), values), 0)
            sites = sites.at[kind.child].add(tables)
    allowed = inside(graph.num_values, values)
    branches = branches_at(graph, scores, {name: kind.child for name, kind in graph.kinds.items()})
    return TreeScores(jnp.where(allowed, sites[:-2], -jnp.inf), branches)


def branches_at(
    graph: Graph, scores: Mapping[str, AbstractScores], children: Mapping[str, Any]
) -> Float[Array, "sites parents values"]:
    """The scores of factors of several sites, each at the lowest; `NOTHING` leaves a factor out."""
    values, width = graph.most_values, graph.width
    above = _extended(graph)
    found = jnp.zeros((len(graph.num_values) + 2, values**width, values))
    for name, kind in graph.kinds.items():
        own, child, places = scores[name], jnp.asarray(children[name]), kind.scopes.shape[1]
        if not 2 <= places <= width + 1 or not isinstance(own, TableScores):
            continue
        tables = _filled(own.each(), values)
        if width == 1:
            # Branches are indexed by the parent's value first.
            upright = (kind.scopes[:, 1] == child)[:, None, None]
            tables = jnp.where(upright, tables, jnp.swapaxes(tables, 1, 2))
        else:
            entries = _entries(jnp.asarray(kind.scopes), above, child, values)
            tables = jnp.take_along_axis(tables.reshape(len(child), -1), entries, axis=1)
            tables = tables.reshape(-1, *found.shape[1:])
        found = found.at[child].add(jnp.where((child != NOTHING)[:, None, None], tables, 0))
    return found[:-2]


def _filled(tables: Array, values: int) -> Array:
    """Tables with zeros for the values that their sites do not have."""
    more = [(0, max(values - size, 0)) for size in tables.shape[1:]]
    tables = jnp.pad(tables, [(0, 0), *more])
    return tables[(slice(None), *[slice(0, values)] * (tables.ndim - 1))]


def _levelled_joint(inbox: Array, branches: Array, sites: Array) -> tuple[Array, Array, Array]:
    """Scores of some sites' values with each row of what they hang from (rows, values), and what
    was taken off: of each row, and of all."""
    own, own_tops = levelled(inbox[sites])
    own_tops, own_top = levelled(own_tops)
    rows, tops = levelled(branches[sites])
    tops, top = levelled(tops)
    return rows + own, tops + own_tops, own_top + top


def _levelled_messages(messages: Array, taken: Array, sites: Array) -> tuple[Array, Array]:
    """What sites tell their parents, and all that was taken off on the way; `NOTHING` is silent."""
    messages, top = levelled(messages)
    nothing = sites == NOTHING
    return jnp.where(nothing[:, None], 0, messages), jnp.where(nothing, 0, taken + top)


def levelled(scores: Float[Array, "... values"]) -> tuple[Array, Array]:
    """Scores less their largest along the last axis, and that; 0 where it is not finite."""
    top = jax.lax.stop_gradient(scores.max(axis=-1))
    top = jnp.where(jnp.isfinite(top), top, 0)
    return scores - top[..., None], top


def logsumexp(terms: Float[Array, "... values"]) -> Float[Array, "..."]:
    """Over the last axis; its gradient is zero, not NaN, where all terms are -inf."""
    top = jax.lax.stop_gradient(terms.max(axis=-1, keepdims=True))
    top = jnp.where(jnp.isfinite(top), top, 0)
    total = jnp.exp(terms - top).sum(axis=-1)
    some = total > 0
    return jnp.where(some, jnp.log(jnp.where(some, total, 1)) + top[..., 0], -jnp.inf)


def row_of(state: Int[Array, " rows"], above: Int[Array, "n width"], values: int) -> Array:
    """Which row of their tables sites have, by the values of all that they hang from."""
    strides = values ** jnp.arange(above.shape[1])[::-1]
    return state[above] @ strides.astype(state.dtype)


def _entries(scopes: Array, above: Array, sites: Array, values: int) -> Int[Array, "n entries"]:
    """Where, in tables over scopes, each entry of the sites' own tables looks; places of a scope
    without a site look at 0."""
    width = above.shape[1]
    cliques = jnp.concatenate([above[sites], sites[:, None]], axis=1)
    place = (scopes[:, :, None] == cliques[:, None, :]) & (scopes >= 0)[:, :, None]
    strides = values ** np.arange(scopes.shape[1])[::-1]
    digits = np.stack(np.unravel_index(np.arange(values ** (width + 1)), (values,) * (width + 1)))
    return jnp.einsum("nsc,s,ce->ne", place.astype(jnp.int32), strides, digits).astype(jnp.int32)


def _spread(messages: Array, above: Array, sites: Array, values: int) -> Array:
    """Messages, which are about all that sites hang from, as the nearest of those reads them."""
    if above.shape[1] == 1:
        return messages[:, None]
    entries = _entries(above[sites], above, above[sites, 0], values)
    return jnp.take_along_axis(messages, entries, axis=1).reshape(len(sites), -1, values)


def _gathered(found: Array, above: Array, sites: Array, rows: int) -> Float[Array, "n rows"]:
    """From the laws of the nearest sites' tables, those of all that sites hang from."""
    if above.shape[1] == 1:
        return found[:, 0]
    entries = _entries(above[sites], above, above[sites, 0], found.shape[2])
    number = jnp.arange(len(sites))[:, None]
    return jnp.zeros((len(sites), rows)).at[number, entries].add(found.reshape(len(sites), -1))


def _extended(graph: Graph) -> Int[Array, "rows width"]:
    """What sites hang from, and two rows that stand for no site: `NOTHING` and `ABOVE` hang from
    themselves.

    Both are counted from the end, so that padding moves neither.
    """
    above = jnp.asarray(graph.above)
    ends = jnp.broadcast_to(jnp.array([[NOTHING], [ABOVE]], above.dtype), (2, above.shape[1]))
    return jnp.concatenate([above, ends])
