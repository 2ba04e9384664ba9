"""Laws on forests by message passing: in the log domain, and every message less its largest entry.

So float32 is enough, however many sites there are and however large the scores.
"""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import RandomKey, Scalar
from .._inversion import invert, random_words
from ._graph import Graph
from ._scores import AbstractScores, TableScores, inside
from ._structure import ABOVE, NOTHING

State = Int[Array, " sites"]


class TreeScores(eqx.Module):
    """Scores on a forest: of each site's values, and of each with its parent's value."""

    sites: Float[Array, "sites values"]
    branches: Float[Array, "sites parents values"]

    def law(self, graph: Graph) -> TreeLaw:
        """The law ∝ exp(scores): messages from the leaves to the roots (sum-product)."""
        parent = _extended(graph)
        values = self.sites.shape[1]
        none = jnp.zeros((2, values), self.sites.dtype)
        branches = jnp.concatenate([self.branches, jnp.zeros((2, values, values))])

        def round(inbox: Array, sites: Array) -> tuple[Array, tuple[Array, Array]]:
            joint, tops, taken = _levelled_joint(inbox, branches, sites)
            sums = logsumexp(joint)
            possible = jnp.isfinite(sums)[..., None]
            law = jnp.where(possible, joint - jnp.where(possible, sums[..., None], 0), -jnp.inf)
            messages, taken = _levelled_messages(tops + sums, taken, sites)
            return inbox.at[parent[sites]].add(messages), (law, taken)

        inbox = jnp.concatenate([self.sites, none])
        inbox, (laws, taken) = jax.lax.scan(round, inbox, jnp.asarray(graph.rounds), reverse=True)
        # Where each site stands among the rounds.
        slots = jnp.zeros(len(parent), jnp.int32)
        slots = slots.at[graph.rounds].set(
            jnp.arange(graph.rounds.size, dtype=jnp.int32).reshape(graph.rounds.shape)
        )
        conditionals = laws.reshape(-1, values, values)[slots[:-2]]
        return TreeLaw(conditionals, inbox[ABOVE, 0] + taken.sum())

    def best(self, graph: Graph) -> tuple[State, Scalar]:
        """The state of the largest score, and its score (max-product)."""
        parent = _extended(graph)
        values = self.sites.shape[1]
        branches = jnp.concatenate([self.branches, jnp.zeros((2, values, values))])

        def up(inbox: Array, sites: Array) -> tuple[Array, tuple[Array, Array]]:
            joint, tops, taken = _levelled_joint(inbox, branches, sites)
            messages, taken = _levelled_messages(tops + joint.max(axis=-1), taken, sites)
            choices = joint.argmax(axis=-1).astype(jnp.int32)
            return inbox.at[parent[sites]].add(messages), (choices, taken)

        def down(state: Array, round: tuple[Array, Array]) -> tuple[Array, None]:
            sites, choices = round
            above = state[parent[sites]]
            return state.at[sites].set(jnp.take_along_axis(choices, above[:, None], 1)[:, 0]), None

        inbox = jnp.concatenate([self.sites, jnp.zeros((2, values), self.sites.dtype)])
        inbox, (choices, taken) = jax.lax.scan(up, inbox, jnp.asarray(graph.rounds), reverse=True)
        state = jnp.zeros(len(parent), jnp.int32)
        state = jax.lax.scan(down, state, (jnp.asarray(graph.rounds), choices))[0]
        return state[:-2], inbox[ABOVE, 0] + taken.sum()


class TreeLaw(eqx.Module):
    """A normalised law on a forest: that of each site's value given its parent's."""

    conditionals: Float[Array, "sites parents values"]
    log_partition: Scalar

    def sample(self, key: RandomKey, graph: Graph) -> State:
        """An exact draw, from the roots down."""
        parent = _extended(graph)
        words = random_words(key, parent.shape)

        def round(state: Array, sites: Array) -> tuple[Array, None]:
            logits = self.conditionals[jnp.maximum(sites, 0), state[parent[sites]]]
            return state.at[sites].set(invert(logits, words[sites])[0]), None

        state = jnp.zeros(len(parent), jnp.int32)
        return jax.lax.scan(round, state, jnp.asarray(graph.rounds))[0][:-2]

    def log_prob(self, state: State, graph: Graph) -> Scalar:
        """Of a state in range; sites beyond the graph's have 0."""
        state = jnp.asarray(state)
        found = self.log_probs(state, graph)
        found = jnp.where(jnp.arange(state.shape[0]) < graph.num_sites, found, 0).sum()
        known = ((state >= 0) & (state < graph.num_values)).all()
        return jnp.where(known, found, -jnp.inf)

    def log_probs(self, state: State, graph: Graph) -> Float[Array, " sites"]:
        """Of the value of each site, given that of its parent."""
        above = jnp.concatenate([state, jnp.zeros(2, state.dtype)])[graph.parent]
        return self.conditionals[jnp.arange(state.shape[0]), above, state]

    def marginals(self, graph: Graph) -> Float[Array, "sites values"]:
        """P(value) of each site: messages from the roots to the leaves."""
        parent = _extended(graph)
        law = jnp.exp(self.conditionals)

        def round(found: Array, sites: Array) -> tuple[Array, None]:
            here = jnp.einsum("sp,spk->sk", found[parent[sites]], law[jnp.maximum(sites, 0)])
            # Rounding errors of sums would grow along the branches.
            return found.at[sites].set(here / here.sum(axis=1, keepdims=True)), None

        found = jnp.zeros((len(parent), law.shape[-1]), law.dtype).at[:, 0].set(1)
        return jax.lax.scan(round, found, jnp.asarray(graph.rounds))[0][:-2]


def on_forest(graph: Graph, scores: Mapping[str, AbstractScores]) -> TreeScores:
    """The scores of the factors on the forest, by site and by branch; all others are zero."""
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
    graph: Graph, scores: Mapping[str, AbstractScores], children: Mapping[str, Array]
) -> Float[Array, "sites parents values"]:
    """The scores of factors of two sites, each at the lower one; `NOTHING` leaves a factor out."""
    values = graph.most_values
    found = jnp.zeros((len(graph.num_values) + 2, values, values))
    for name, kind in graph.kinds.items():
        own, child = scores[name], children[name]
        if kind.scopes.shape[1] == 2 and isinstance(own, TableScores):
            tables = _filled(own.each(), values)
            tables = jnp.where((child != NOTHING)[:, None, None], tables, 0)
            # Branches are indexed by the parent's value first.
            upright = (kind.scopes[:, 1] == child)[:, None, None]
            found = found.at[child].add(jnp.where(upright, tables, jnp.swapaxes(tables, 1, 2)))
    return found[:-2]


def _filled(tables: Array, values: int) -> Array:
    """Tables with zeros for the values that their sites do not have."""
    more = [(0, max(values - size, 0)) for size in tables.shape[1:]]
    tables = jnp.pad(tables, [(0, 0), *more])
    return tables[(slice(None), *[slice(0, values)] * (tables.ndim - 1))]


def _levelled_joint(inbox: Array, branches: Array, sites: Array) -> tuple[Array, Array, Array]:
    """Scores of some sites' values with each of their parents' (parents, values), and what was
    taken off: of each row, and of all."""
    own, own_top = levelled(inbox[sites])
    rows, tops = levelled(branches[sites])
    tops, top = levelled(tops)
    return rows + own[:, None, :], tops, own_top + top


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


def _extended(graph: Graph) -> Int[Array, " rows"]:
    """Parents with the two rows that stand for no site: `NOTHING` and `ABOVE` hang from themselves.

    Both are counted from the end, so that padding moves neither.
    """
    return jnp.concatenate([jnp.asarray(graph.parent), jnp.array([NOTHING, ABOVE])])
