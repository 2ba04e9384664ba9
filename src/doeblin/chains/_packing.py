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
from ._keys import TourKeys
from ._walk import Walk

Cargo = PyTree[Any]
"""What a tour carries from step to step: a state, perhaps with sums over the states so far."""


class Packed(NamedTuple):
    cargo: Cargo
    """What each tour carried at its end."""
    stage: Int[Array, " tours"]
    """The walk's stage at the end of each tour, or -1 if it ended where it began."""
    steps: Int[Array, " tours"]
    lane_steps: Float[Array, " 1"]
    """How many steps the lanes made, those that advanced no tour included."""


class _Lane(NamedTuple):
    """One lane of the loop, at work on one tour."""

    idle: Array
    """An idle lane repeats the first step of the longest tour. Whatever else it did could be what
    no tour does, such as to move a state with the input of another, and fail."""
    tour: Count
    cargo: Cargo
    stage: Count
    segment: Count
    """How many segments of the walk were entered."""
    left: Count
    """Steps left in the present one."""
    step: Count


def walk_packed(
    keys: TourKeys,
    walk: Walk,
    start: Cargo,
    advance: Callable[[RandomKey, Cargo, Count, Count], Cargo],
    lanes: int,
) -> Packed:
    """Walk one tour for each triple of keys. `start` has a leading axis over tours.

    `advance(key, cargo, stage, tour)` moves one tour by one step in a stage of the walk.
    """
    num_tours = keys.walk.shape[0]
    lengths = walk.lengths(keys.walk)
    order = jnp.argsort(-lengths).astype(jnp.int32)
    num_moving = (lengths > 0).sum(dtype=jnp.int32)

    def take_up(position: Count) -> _Lane:
        """A lane before the first step of the tour at that position of the queue."""
        idle = position >= num_moving
        tour = order[jnp.where(idle, 0, position)]
        cargo = jax.tree.map(lambda leaf: leaf[tour], start)
        return _Lane(idle, tour, cargo, zero, zero, zero, zero)

    def move(lane: _Lane) -> _Lane:
        tour = lane.tour
        if walk.num_stages > 1:  # A single stage needs no segments: the length says it all.
            entered = walk.segment(keys.walk[tour], lane.segment, lane.stage)
            enter = lane.left == 0
            lane = lane._replace(
                stage=jnp.where(enter, entered.stage, lane.stage),
                segment=lane.segment + enter.astype(jnp.int32),
                left=jnp.where(enter, entered.steps, lane.left) - 1,
            )
        key = jax.random.fold_in(keys.steps[tour], lane.step)
        cargo = advance(key, lane.cargo, lane.stage, tour)
        return lane._replace(cargo=cargo, step=lane.step + 1)

    def unfinished(carry) -> Array:
        lane, taken, *_ = carry
        return ~lane.idle.all() | (taken < num_moving)

    def body(carry):
        lane, taken, cargo, stage, iterations = carry
        position = taken + jnp.cumsum(lane.idle, dtype=jnp.int32) - 1
        fill = lane.idle & (position < num_moving)
        lane = _choose(lane.idle, jax.vmap(take_up)(position), lane)
        lane = jax.vmap(move)(lane)
        done = ~lane.idle & (lane.step == lengths[lane.tour])
        target = jnp.where(done, lane.tour, num_tours)
        cargo = jax.tree.map(
            lambda all, ended: all.at[target].set(ended, mode="drop"), cargo, lane.cargo
        )
        stage = stage.at[target].set(lane.stage, mode="drop")
        lane = lane._replace(idle=lane.idle | done)
        return lane, taken + fill.sum(dtype=jnp.int32), cargo, stage, iterations + 1

    zero = jnp.array(0, jnp.int32)
    zeros = jnp.zeros(lanes, jnp.int32)
    cargo = jax.tree.map(lambda leaf: leaf[zeros], start)
    lane = _Lane(jnp.ones(lanes, bool), zeros, cargo, zeros, zeros, zeros, zeros)
    nowhere = jnp.full(num_tours, -1, jnp.int32)
    carry = (lane, zero, start, nowhere, zero)
    _, _, cargo, stage, iterations = jax.lax.while_loop(unfinished, body, carry)
    # This can be beyond what 32 bits count.
    return Packed(cargo, stage, lengths, iterations.astype(float)[None] * lanes)


def _choose(condition: Array, new: _Lane, old: _Lane) -> _Lane:
    def where(one: Array, other: Array) -> Array:
        return jnp.where(condition.reshape(condition.shape + (1,) * (other.ndim - 1)), one, other)

    return jax.tree.map(where, new, old)
