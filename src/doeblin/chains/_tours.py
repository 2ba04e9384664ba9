"""Tours of a chain, walked in packed lanes: for exact draws and for regenerative estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Int

from .._custom_types import Count, Input, RandomKey, State
from .._errors import InputError
from .._mesh import in_turn, laid_out, over
from ..kernels import AbstractKernel
from ._keys import TourKeys, keys_of_draws, keys_of_tours
from ._packing import Packed, walk_packed
from ._sums import Sum, TourSums
from ._walk import draw_walk, tour_walk

if TYPE_CHECKING:
    from ._chain import Chain


class Lanes(NamedTuple):
    """Where tours are walked."""

    each: int
    """How many are walked at once on each device."""
    mesh: Mesh | None = None

    @property
    def total(self) -> int:
        return self.each * (1 if self.mesh is None else self.mesh.size)


def exact_draws(
    chain: Chain, key: RandomKey, xs: Input, num_draws: int, num_inputs: int, lanes: Lanes
) -> tuple[State, Array, Array, Array]:
    """States, stages, ages (each with axes inputs, draws) and the useful fraction of lane-steps."""
    programs = _walked, _arranged
    return in_turn(lanes.mesh, programs, chain, key, xs, num_draws, num_inputs, lanes)


def _walked(
    chain: Chain, key: RandomKey, xs: Input, num_draws: int, num_inputs: int, lanes: Lanes
) -> Packed:
    x = jax.tree.map(lambda leaf: leaf[0], xs)
    check_shapes(chain, x)
    keys = keys_of_draws(key, num_inputs, num_draws)

    def walked(shared: Any, keys: TourKeys, tours: Int[Array, " tours"]) -> Packed:
        chain, xs = shared
        _, kernels = _moving_stages(chain)

        def input_of(tour: Count) -> Input:
            return jax.tree.map(lambda leaf: leaf[tour // num_draws], xs)

        def begin(key: RandomKey, tour: Count) -> State:
            return chain.restart.sample(key, input_of(tour))

        def advance(key: RandomKey, state: State, stage: Count, tour: Count) -> State:
            # They follow each other; past the last there are only copies of it.
            x = input_of(jnp.minimum(tours[0] + tour, num_draws * num_inputs - 1))
            return jax.lax.switch(stage, [lambda k=k: k.sample(key, state, x) for k in kernels])

        walk = draw_walk(chain.stage_matrix, chain.restart_stage)
        return walk_packed(keys, walk, jax.vmap(begin)(keys.start, tours), advance, lanes.each)

    return over(lanes.mesh, walked, (chain, xs))(keys, jnp.arange(num_draws * num_inputs))


def _arranged(
    packed: Packed,
    chain: Chain,
    key: RandomKey,
    xs: Input,
    num_draws: int,
    num_inputs: int,
    lanes: Lanes,
) -> tuple[State, Array, Array, Array]:
    stages, _ = _moving_stages(chain)
    tours = packed._replace(lane_steps=packed.steps)
    cargo, stages_at_end, steps, _ = jax.tree.map(
        lambda leaf: leaf[: num_draws * num_inputs], tours
    )
    stage = jnp.where(stages_at_end < 0, chain.restart_stage, jnp.asarray(stages)[stages_at_end])
    shape = (num_inputs, num_draws)
    state = jax.tree.map(lambda leaf: leaf.reshape(shape + leaf.shape[1:]), cargo)
    draws = state, stage.reshape(shape), steps.reshape(shape)
    # All devices wait for the one that has most to do.
    used = packed.lane_steps.max() / lanes.each * lanes.total
    useful = steps.astype(float).sum() / jnp.maximum(used, 1)
    return *laid_out(lanes.mesh, draws, axes=2), laid_out(lanes.mesh, useful, axes=0)


def tour_sums(lanes: Lanes, tours: Tours) -> TourSums:
    """Sums of a function over some tours, counting the wanted stages only."""
    return in_turn(lanes.mesh, (_summed, _gathered), lanes, tours)


class Tours(NamedTuple):
    """What is to be summed over which tours of a chain."""

    chain: Chain
    key: RandomKey
    first: Count
    number: int
    function: Callable[[State], Any]
    x: Input
    wanted: Bool[Array, " stages"]


def _gathered(found: TourSums, lanes: Lanes, tours: Tours) -> TourSums:
    found = jax.tree.map(lambda leaf: leaf[: tours.number], found)
    return laid_out(lanes.mesh, found, axes=0)


def _summed(lanes: Lanes, tours: Tours) -> TourSums:
    chain, key, first, num_tours, function, x, wanted = tours
    check_shapes(chain, x)
    keys = keys_of_tours(key, first + jnp.arange(num_tours, dtype=jnp.int32))

    def walked(shared: Any, keys: TourKeys) -> TourSums:
        chain, function, x, wanted = shared
        stages, kernels = _moving_stages(chain)

        def counted(sums: Any, count: Count, state: State, stage: Any) -> tuple[Any, Count]:
            values, counts = function(state), wanted[stage]
            if sums is None:
                sums = jax.tree.map(Sum.of_nothing, values)
            begins = counts & (count == 0)
            sums = jax.tree.map(lambda value, own: own.plus(value, counts, begins), values, sums)
            return sums, count + counts.astype(jnp.int32)

        def begin(key: RandomKey) -> tuple[State, Any, Count]:
            state = chain.restart.sample(key, x)
            return state, *counted(None, jnp.array(0, jnp.int32), state, chain.restart_stage)

        def advance(key: RandomKey, cargo: Any, stage: Count, tour: Count) -> Any:
            state, sums, count = cargo
            state = jax.lax.switch(stage, [lambda k=k: k.sample(key, state, x) for k in kernels])
            return state, *counted(sums, count, state, jnp.asarray(stages)[stage])

        walk = tour_walk(chain.stage_matrix, chain.restart_stage)

        packed = walk_packed(keys, walk, jax.vmap(begin)(keys.start), advance, lanes.each)
        _, sums, counts = packed.cargo
        return TourSums(sums, counts, packed.steps + 1)

    return over(lanes.mesh, walked, (chain, function, x, wanted))(keys)


def _moving_stages(chain: Chain) -> tuple[np.ndarray, list[AbstractKernel]]:
    """The stages other than z*, in the order in which walks number them, and their kernels."""
    stages = np.delete(np.arange(len(chain.kernels), dtype=np.int32), chain.restart_stage)
    return stages, [kernel for kernel in chain.kernels if kernel is not None]


def check_shapes(chain: Chain, x: Input) -> None:
    """Kernels must return states like the restart's; told before any step is run."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    start = eqx.filter_eval_shape(chain.restart.sample, key, x)
    for leaf in jax.tree.leaves(start):
        if not hasattr(leaf, "shape"):
            raise InputError(
                f"the restart returns {leaf!r:.40}, and states are made of arrays: return one, "
                f"such as jnp.asarray({leaf!r:.40})"
            )
    for stage, kernel in enumerate(chain.kernels):
        if kernel is None:
            continue
        moved = eqx.filter_eval_shape(kernel.sample, key, start, x)
        if jax.tree.structure(moved) != jax.tree.structure(start):
            raise InputError(
                f"the kernel of stage {stage} returns states of structure "
                f"{jax.tree.structure(moved)}, but the restart draws {jax.tree.structure(start)}"
            )
        for new, old in zip(jax.tree.leaves(moved), jax.tree.leaves(start), strict=True):
            if not hasattr(new, "shape"):
                raise InputError(
                    f"the kernel of stage {stage} returns {new!r:.40} where the restart draws an "
                    f"array of shape {old.shape} and type {old.dtype}: return one, such as "
                    f"jnp.asarray({new!r:.40}, '{old.dtype}')"
                )
            if (new.shape, new.dtype) != (old.shape, old.dtype):
                raise InputError(
                    f"the kernel of stage {stage} turns a leaf of the state of shape {old.shape} "
                    f"and type {old.dtype} into one of shape {new.shape} and type {new.dtype}; "
                    "they must match"
                )
