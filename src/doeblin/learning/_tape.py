"""The tape: all steps of all walks, in arrays whose shape is known before any walk is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from .._custom_types import Input, RandomKey, State
from .._inversion import categorical
from ..kernels import AbstractKernel
from ._horizons import AbstractHorizon, Segment
from ._stages import StageWalk


class Tape(eqx.Module):
    """Step s of walk i is one slot: the state before and after it, its key and its stage.

    Slots of walks that have ended hold steps all the same (possible ones), and count for nothing.
    """

    old: State
    new: State
    keys: Array
    stage: Int[Array, " slots"]
    previous: Int[Array, " slots"]
    """The stage of the walk's step before; the start stage at its first step."""
    alive: Bool[Array, " slots"]
    segments: tuple[Segment, ...] = eqx.field(static=True)

    @property
    def num_walks(self) -> int:
        return self.segments[0].lanes

    def spread(self, per_walk: Any) -> Any:
        """What belongs to each walk, given to each of its slots."""
        return jax.tree.map(lambda leaf: _spread(leaf, self.segments), per_walk)

    @property
    def step(self) -> np.ndarray:
        """Which step of its walk each slot is, from 1."""
        return slot_steps(self.segments)

    def running(self, values: Array) -> Array:
        """At each slot, the sum over the walk's slots up to it.

        Several values a slot, in a second axis, are summed at the price of one in compile time.
        """
        parts, total = [], jnp.zeros((self.num_walks, *values.shape[1:]), values.dtype)
        for rows in self._split(values):
            rows = jnp.cumsum(rows, axis=0) + total[None, : rows.shape[1]]
            total = rows[-1]
            parts.append(rows.reshape(-1, *values.shape[1:]))
        return jnp.concatenate(parts)

    def to_go(self, values: Array) -> Array:
        """At each slot, the sum over the walk's slots from it on (of several values likewise)."""
        parts, total = [], jnp.zeros((0, *values.shape[1:]), values.dtype)
        for rows in reversed(self._split(values)):
            missing = rows.shape[1] - total.shape[0]
            later = jnp.pad(total, [(0, missing)] + [(0, 0)] * (values.ndim - 1))
            rows = jnp.cumsum(rows[::-1], axis=0)[::-1] + later[None]
            total = rows[0]
            parts.append(rows.reshape(-1, *values.shape[1:]))
        return jnp.concatenate(parts[::-1])

    def shifted(self, first: Array, values: Array) -> Array:
        """At each slot, the value of the walk's slot before; `first` of the walk at its first."""
        parts = []
        for rows in self._split(values):
            parts.append(jnp.concatenate([first[None, : rows.shape[1]], rows[:-1]]).ravel())
            first = rows[-1]
        return jnp.concatenate(parts)

    def _split(self, values: Array) -> list[Array]:
        ends = np.cumsum([lanes * steps for lanes, steps in self.segments])[:-1]
        parts = jnp.split(values, ends)
        return [
            part.reshape(steps, lanes, *values.shape[1:])
            for part, (lanes, steps) in zip(parts, self.segments, strict=True)
        ]


def walk(
    key: RandomKey,
    kernels: Sequence[AbstractKernel],
    stages: StageWalk,
    horizon: AbstractHorizon,
    start: State,
    x: Input,
) -> Tape:
    """Walks from `start` (one state for each walk, stacked), each step by the kernel of its stage.

    T and the stages never look at the states, so every prefix of every walk can be used.
    """
    num_walks = jax.tree.leaves(start)[0].shape[0]
    segments = horizon.segments(num_walks)
    sizes = [lanes * steps for lanes, steps in segments]
    # With a single stage there is nothing to draw.
    several = stages.num_stages > 1
    # All keys by one split: each costs its share of compile time.
    keys = jax.random.split(key, 1 + sum(sizes) * (1 + several))
    lengths = horizon.lengths(keys[0], num_walks)
    state_keys = keys[1 : 1 + sum(sizes)]
    stage_keys = keys[1 + sum(sizes) :] if several else None
    move = jax.vmap(lambda key, state, stage: on_stage(kernels, stage, _sample(key, state, x)))

    def step(carry: tuple[State, Array], keys: tuple[Array, Any]) -> tuple[Any, Any]:
        old, previous = carry
        state_keys, stage_keys = keys
        stage = jnp.zeros_like(previous)
        if several:
            stage = jax.vmap(categorical)(stage_keys, stages.log_next[previous])
            stage = stage.astype(previous.dtype)
        new = move(state_keys, old, stage)
        return (new, stage), (old, new, stage, previous)

    carry = (start, jnp.full(num_walks, stages.num_stages, jnp.int32))
    parts, begin = [], 0
    for (lanes, steps), size in zip(segments, sizes, strict=True):
        keys = jax.tree.map(
            lambda keys, b=begin, n=size, s=steps, w=lanes: keys[b : b + n].reshape(s, w),
            (state_keys, stage_keys),
        )
        carry = jax.tree.map(lambda leaf, lanes=lanes: leaf[:lanes], carry)
        carry, slots = jax.lax.scan(step, carry, keys)
        parts.append(jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), slots))
        begin += size
    old, new, stage, previous = jax.tree.map(lambda *p: jnp.concatenate(p), *parts)
    alive = jnp.asarray(slot_steps(segments)) <= _spread(lengths, segments)
    return Tape(old, new, state_keys, stage, previous, alive, segments)


def on_stage(
    kernels: Sequence[AbstractKernel], stage: Array, function: Callable[[AbstractKernel], Any]
) -> Any:
    """A function of the kernel of a stage."""
    found = function(kernels[0])
    for number, kernel in enumerate(kernels[1:], start=1):
        here = stage == number
        # Not `lax.switch`: under `vmap` it evaluates every branch as well, and for that gives each
        # slot its own copy of all parameters.
        found = jax.tree.map(
            lambda new, old, here=here: jnp.where(here, new, old), function(kernel), found
        )
    return found


def slot_steps(segments: tuple[Segment, ...]) -> np.ndarray:
    parts, begin = [], 1
    for lanes, steps in segments:
        parts.append(np.repeat(np.arange(begin, begin + steps), lanes))
        begin += steps
    return np.concatenate(parts)


def _spread(leaf: Array, segments: tuple[Segment, ...]) -> Array:
    # Broadcasts and not a gather, whose gradient would be a scatter.
    rest = leaf.shape[1:]
    return jnp.concatenate(
        [
            jnp.broadcast_to(leaf[:lanes], (steps, lanes, *rest)).reshape(-1, *rest)
            for lanes, steps in segments
        ]
    )


def frozen(tree: Any) -> Any:
    """The same without gradients: what samplers are given.

    This reaches arrays in the tree, but not those that a function encloses or an object of the
    user's holds. So what is computed from a frozen tree is frozen once more.
    """
    return jax.tree.map(
        lambda leaf: jax.lax.stop_gradient(leaf) if eqx.is_inexact_array(leaf) else leaf, tree
    )


def _sample(key: RandomKey, state: State, x: Input) -> Callable[[AbstractKernel], State]:
    def sample(kernel: AbstractKernel) -> State:
        new = kernel.sample(key, state, x)
        return jax.tree.map(lambda leaf, like: leaf.astype(like.dtype), new, state)

    return sample
