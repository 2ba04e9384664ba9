"""Many tours at once without idle lanes: lengths first, then the longest tours first.

A vmapped loop would run every lane as long as the longest tour. The length of a tour does not
depend on the states it visits, so all lengths are drawn beforehand, and a lane that finishes one
tour takes up the next. What a tour does depends on its own key only: the number of lanes does not
matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from .._custom_types import Count, RandomKey
from ._walk import Walk

Cargo = PyTree[Any]
"""What a tour carries from step to step: a state, perhaps with sums over the states so far."""


class Packed(NamedTuple):
    cargo: Cargo
    """What each tour carried at its end."""
    stage: Int[Array, " tours"]
    """The walk's stage at the end of each tour, or -1 if it ended where it began."""
    steps: Int[Array, " tours"]
    useful: Float[Array, ""]
    """The fraction of lane-steps that advanced some tour."""


class _Lane(NamedTuple):
    tour: Count
    cargo: Cargo
    stage: Count
    segment: Count
    left_in_segment: Count
    step: Count


def walk_packed(
    keys: Array,
    walk: Walk,
    start: Cargo,
    advance: Callable[[RandomKey, Cargo, Count, Count], Cargo],
    *,
    lanes: int,
) -> Packed:
    """Walk one tour for each key. `start` has a leading axis over tours.

    `advance(key, cargo, stage, tour)` moves one tour by one step in a stage of the walk.
    """
    num_tours = keys.shape[0]
    walk_keys, step_keys = _split_each(keys)
    lengths = walk.lengths(walk_keys)
    order = jnp.argsort(-lengths)
    num_moving = (lengths > 0).sum()

    def take_up(position: Count) -> _Lane:
        """A lane at the start of the tour at a position of the queue (idle past its end)."""
        tour = jnp.where(position < num_moving, order[position % num_tours], num_tours)
        cargo = jax.tree.map(lambda leaf: leaf[tour % num_tours], start)
        zero = jnp.array(0)
        if walk.num_stages == 1:  # A single stage needs no segments: the length says it all.
            return _Lane(tour, cargo, zero, zero, zero, zero)
        first = walk.segment(walk_keys[tour % num_tours], zero, zero)
        return _Lane(tour, cargo, first.stage, zero, first.steps, zero)

    def move(lane: _Lane) -> _Lane:
        tour = lane.tour % num_tours
        key = jax.random.fold_in(step_keys[tour], lane.step)
        cargo = advance(key, lane.cargo, lane.stage, tour)
        if walk.num_stages == 1:
            return lane._replace(cargo=cargo, step=lane.step + 1)
        left = lane.left_in_segment - 1
        following = walk.segment(walk_keys[tour], lane.segment + 1, lane.stage)
        over = (left == 0) & (following.stage < walk.num_stages)
        return lane._replace(
            cargo=cargo,
            stage=jnp.where(over, following.stage, lane.stage),
            segment=jnp.where(over, lane.segment + 1, lane.segment),
            left_in_segment=jnp.where(over, following.steps, left),
            step=lane.step + 1,
        )

    def unfinished(carry) -> Array:
        return (carry[0].tour < num_tours).any()

    def body(carry):
        lane, taken, cargo, stage, iterations = carry
        lane = jax.vmap(move)(lane)
        done = (lane.tour < num_tours) & (lane.step == lengths[lane.tour % num_tours])
        target = jnp.where(done, lane.tour, num_tours)
        cargo = jax.tree.map(
            lambda all, ended: all.at[target].set(ended, mode="drop"), cargo, lane.cargo
        )
        stage = stage.at[target].set(lane.stage, mode="drop")
        fresh = jax.vmap(take_up)(taken + jnp.cumsum(done) - 1)
        lane = jax.tree.map(lambda new, old: _where(done, new, old), fresh, lane)
        return lane, taken + done.sum(), cargo, stage, iterations + 1

    lane = jax.vmap(take_up)(jnp.arange(lanes))
    nowhere = jnp.full(num_tours, -1, dtype=lane.stage.dtype)
    carry = (lane, jnp.array(lanes), start, nowhere, jnp.array(0))
    _, _, cargo, stage, iterations = jax.lax.while_loop(unfinished, body, carry)
    useful = lengths.sum() / jnp.maximum(iterations * lanes, 1)
    return Packed(cargo, stage, lengths, useful)


def _split_each(keys: Array) -> tuple[Array, Array]:
    pairs = jax.vmap(jax.random.split)(keys)
    return pairs[:, 0], pairs[:, 1]


def _where(condition: Array, new: Array, old: Array) -> Array:
    return jnp.where(condition.reshape(condition.shape + (1,) * (old.ndim - 1)), new, old)
