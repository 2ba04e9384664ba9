"""Strong Doeblin and staged chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from .._custom_types import Count, Input, RandomKey, State
from .._errors import InputError
from ..kernels import AbstractKernel, AbstractRestart
from ..schedules import Certificate, Schedule, certify, checked_epsilon
from ._packing import walk_packed
from ._regeneration import Estimate, TourSums, estimate_from_tours
from ._walk import draw_walk, tour_walk


class Position(NamedTuple):
    """Where a running chain is, or, with leading axes, where it has been."""

    state: State
    stage: Count
    age: Count
    """Steps since the last restart; 0 at the restart itself."""
    tour: Count
    """Restarts since the run began."""


class Draws(NamedTuple):
    """Independent draws from the stationary law, with a leading axis."""

    state: State
    stage: Int[Array, " draws"]
    age: Int[Array, " draws"]
    """Steps that the draw cost after its restart."""
    useful: Float[Array, ""]
    """The fraction of lane-steps that were not idle."""


class Chain(eqx.Module):
    """A staged strong Doeblin chain; made by [`doeblin`][doeblin.doeblin] or [`staged`][doeblin.staged].

    One step draws the next stage from `stage_matrix`, then moves the state by that stage's kernel;
    the restart stage draws a fresh state from `restart`. The stationary law π̃ *is* the model.
    """

    stage_matrix: Float[Array, "stages stages"]
    kernels: tuple[AbstractKernel | None, ...]
    """One kernel a stage; None at the restart stage."""
    restart: AbstractRestart
    restart_stage: int = eqx.field(static=True)

    @property
    def schedule(self) -> Schedule:
        """The schedule that drives the chain, as plain numbers."""
        matrix = np.asarray(self.stage_matrix, dtype=np.float64)
        return Schedule(matrix / matrix.sum(axis=1, keepdims=True), restart=self.restart_stage)

    def certificate(self) -> Certificate:
        """What the schedule guarantees about this chain."""
        return certify(self.schedule)

    def init(self, key: RandomKey, x: Input = None) -> Position:
        """A fresh restart."""
        zero = jnp.array(0)
        return Position(self.restart.sample(key, x), jnp.array(self.restart_stage), zero, zero)

    def step(self, key: RandomKey, position: Position, x: Input = None) -> Position:
        """One step of the chain."""
        stage_key, state_key = jax.random.split(key)
        stage = jax.random.categorical(stage_key, jnp.log(self.stage_matrix[position.stage]))
        moves = [
            (lambda: self.restart.sample(state_key, x))
            if kernel is None
            else (lambda kernel=kernel: kernel.sample(state_key, position.state, x))
            for kernel in self.kernels
        ]
        restarted = stage == self.restart_stage
        return Position(
            jax.lax.switch(stage, moves),
            stage,
            jnp.where(restarted, 0, position.age + 1),
            position.tour + restarted,
        )

    @eqx.filter_jit
    def run(
        self, key: RandomKey, num_steps: int, x: Input = None, *, start: Position | None = None
    ) -> Position:
        """Run the chain and keep every position, in a leading axis of length `num_steps`.

        Runs from a fresh restart unless `start` is given. For many chains or inputs, `jax.vmap`
        over keys and inputs.
        """
        _check_shapes(self, x)
        init_key, run_key = jax.random.split(key)
        first = self.init(init_key, x) if start is None else start

        def step(position: Position, key: RandomKey) -> tuple[Position, Position]:
            following = self.step(key, position, x)
            return following, following

        return jax.lax.scan(step, first, jax.random.split(run_key, num_steps))[1]

    def draw(
        self, key: RandomKey, num_draws: int, x: Input = None, *, lanes: int | None = None
    ) -> Draws:
        """Exact, independent draws from the joint stationary law of (stage, state).

        Tours are packed into `lanes` (default: up to 1024) that run side by side; the draws do not
        depend on how many.
        """
        xs = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], x)
        draws = self.draw_each(key, num_draws, xs, num_inputs=1, lanes=lanes)
        drop = jax.tree.map(lambda leaf: leaf[0], (draws.state, draws.stage, draws.age))
        return Draws(*drop, draws.useful)

    def draw_each(
        self,
        key: RandomKey,
        num_draws: int,
        xs: Input,
        *,
        num_inputs: int | None = None,
        lanes: int | None = None,
    ) -> Draws:
        """`num_draws` exact draws for each input in `xs` (a leading axis); all tours share the lanes."""
        if num_draws < 1:
            raise InputError(f"num_draws = {num_draws} must be at least 1")
        sizes = {jnp.shape(leaf)[0] for leaf in jax.tree.leaves(xs)} | (
            {num_inputs} if num_inputs else set()
        )
        if len(sizes) != 1:
            raise InputError(
                f"the inputs have leading axes of lengths {sorted(sizes)}; they must agree"
            )
        count = sizes.pop()
        lanes = _checked_lanes(lanes, num_draws * count)
        state, stage, age, useful = _draw_each(self, key, xs, num_draws, count, lanes)
        return Draws(state, stage, age, useful)

    def estimate(
        self,
        key: RandomKey,
        function: Callable[[State], Any],
        *,
        num_tours: int = 4096,
        x: Input = None,
        stages: Sequence[int] | None = None,
        lanes: int | None = None,
        chunk: int = 4096,
    ) -> Estimate:
        """The expectation of `function(state)` under π̃, with an honest standard error.

        Tours between restarts are independent, so their sums give a ratio estimator with a central
        limit theorem and no autocorrelations to guess. Memory is that of `chunk` tours. With
        `stages`, the expectation is that given that the chain is in one of them.
        """
        if num_tours < 2 or chunk < 1:
            raise InputError(
                f"num_tours = {num_tours} must be at least 2 and chunk = {chunk} at least 1"
            )
        wanted = np.ones(len(self.kernels), dtype=bool)
        if stages is not None:
            bad = [stage for stage in stages if not 0 <= stage < len(self.kernels)]
            if bad or not len(stages):
                raise InputError(
                    f"stages = {list(stages)} must name some of the stages 0 to "
                    f"{len(self.kernels) - 1}"
                )
            wanted = np.isin(np.arange(len(self.kernels)), stages)

        def sums(first: int, count: int) -> TourSums:
            tours = first + jnp.arange(count)
            return _tour_sums(
                self, key, tours, function, x, jnp.asarray(wanted), _checked_lanes(lanes, count)
            )

        return estimate_from_tours(sums, num_tours, chunk)


def doeblin(kernel: AbstractKernel, restart: AbstractRestart, epsilon: Any) -> Chain:
    """The strong Doeblin chain Ã = (1-ε)A + ε·u. It mixes in O(1/ε) steps, whatever A is.

    >>> import jax
    >>> from doeblin.kernels import FiniteKernel, FiniteRestart
    >>> kernel = FiniteKernel.from_matrix([[0.9, 0.1], [0.3, 0.7]])
    >>> chain = doeblin(kernel, FiniteRestart.from_law([0.5, 0.5]), epsilon=0.1)
    >>> chain.draw(jax.random.key(0), 1000).state.shape
    (1000,)
    >>> chain.certificate().mixing_time(0.25)
    14
    """
    if not isinstance(epsilon, Tracer):
        epsilon = checked_epsilon(epsilon)
    # A restart may follow a restart at once, so both rows are the same.
    matrix = jnp.tile(jnp.stack([jnp.asarray(epsilon), 1 - jnp.asarray(epsilon)]), (2, 1))
    _check_parts([kernel], restart)
    return Chain(matrix, (None, kernel), restart, 0)


def staged(
    schedule: Schedule, kernels: Sequence[AbstractKernel], restart: AbstractRestart
) -> Chain:
    """A staged chain: one kernel for each stage but the restart stage, in the order of stages."""
    if len(kernels) != schedule.num_stages - 1:
        raise InputError(
            f"{schedule.num_stages} stages need {schedule.num_stages - 1} kernels (the restart "
            f"stage {schedule.restart} has none), got {len(kernels)}"
        )
    _check_parts(kernels, restart)
    parts: list[AbstractKernel | None] = list(kernels)
    parts.insert(schedule.restart, None)
    return Chain(jnp.asarray(schedule.matrix), tuple(parts), restart, schedule.restart)


@eqx.filter_jit
def _draw_each(chain: Chain, key: RandomKey, xs: Input, num_draws: int, count: int, lanes: int):
    x = jax.tree.map(lambda leaf: leaf[0], xs)
    _check_shapes(chain, x)
    # One key a draw, from its own input's key: the draws of an input do not depend on the others.
    keys = jax.vmap(
        lambda i: jax.random.split(jax.random.fold_in(key, i), num_draws)
    )(jnp.arange(count)).ravel()
    keys, start_keys = keys, jax.vmap(lambda key: jax.random.fold_in(key, 0))(keys)

    def input_of(tour: Count) -> Input:
        return jax.tree.map(lambda leaf: leaf[tour // num_draws], xs)

    tours = jnp.arange(num_draws * count)
    start = jax.vmap(lambda key, tour: chain.restart.sample(key, input_of(tour)))(start_keys, tours)
    stages, kernels = _moving_stages(chain)

    def advance(key: RandomKey, state: State, stage: Count, tour: Count) -> State:
        x = input_of(tour)
        return jax.lax.switch(stage, [lambda k=k: k.sample(key, state, x) for k in kernels])

    walk = draw_walk(chain.stage_matrix, chain.restart_stage)
    packed = walk_packed(keys, walk, start, advance, lanes=lanes)
    stage = jnp.where(packed.stage < 0, chain.restart_stage, jnp.asarray(stages)[packed.stage])
    shape = (count, num_draws)
    state = jax.tree.map(lambda leaf: leaf.reshape(shape + leaf.shape[1:]), packed.cargo)
    return state, stage.reshape(shape), packed.steps.reshape(shape), packed.useful


@eqx.filter_jit
def _tour_sums(
    chain: Chain,
    key: RandomKey,
    tours: Int[Array, " tours"],
    function: Callable[[State], Any],
    x: Input,
    wanted: Array,
    lanes: int,
) -> TourSums:
    _check_shapes(chain, x)
    keys = jax.vmap(lambda tour: jax.random.fold_in(key, tour))(tours)
    start_keys = jax.vmap(lambda key: jax.random.fold_in(key, 0))(keys)
    stages, kernels = _moving_stages(chain)

    def visit(state: State, stage: Any) -> tuple[Any, Array]:
        weight = wanted[stage].astype(float)
        return jax.tree.map(lambda value: weight * jnp.asarray(value), function(state)), weight

    def begin(key: RandomKey):
        state = chain.restart.sample(key, x)
        return state, visit(state, chain.restart_stage)

    def advance(key: RandomKey, cargo: Any, stage: Count, tour: Count) -> Any:
        state, sums = cargo
        state = jax.lax.switch(stage, [lambda k=k: k.sample(key, state, x) for k in kernels])
        sums = jax.tree.map(jnp.add, sums, visit(state, jnp.asarray(stages)[stage]))
        return state, sums

    walk = tour_walk(chain.stage_matrix, chain.restart_stage)
    packed = walk_packed(keys, walk, jax.vmap(begin)(start_keys), advance, lanes=lanes)
    values, weights = packed.cargo[1]
    return TourSums(values, weights, packed.steps + 1)


def _moving_stages(chain: Chain) -> tuple[np.ndarray, list[AbstractKernel]]:
    """The stages other than z*, in the order in which walks number them, and their kernels."""
    stages = np.delete(np.arange(len(chain.kernels)), chain.restart_stage)
    return stages, [kernel for kernel in chain.kernels if kernel is not None]


def _checked_lanes(lanes: int | None, num_tours: int) -> int:
    if lanes is not None and lanes < 1:
        raise InputError(f"lanes = {lanes} must be at least 1")
    return min(lanes or 1024, num_tours)


def _check_parts(kernels: Sequence[Any], restart: Any) -> None:
    if not isinstance(restart, AbstractRestart):
        raise InputError(
            f"{restart!r} is not a restart; subclass AbstractRestart or wrap two functions with "
            "FunctionRestart"
        )
    for kernel in kernels:
        if not isinstance(kernel, AbstractKernel):
            raise InputError(
                f"{kernel!r} is not a kernel; subclass AbstractKernel or wrap a function with "
                "FunctionKernel"
            )


def _check_shapes(chain: Chain, x: Input) -> None:
    """Kernels must return states like the restart's; told before any step is run."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    start = eqx.filter_eval_shape(chain.restart.sample, key, x)
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
            if (new.shape, new.dtype) != (old.shape, old.dtype):
                raise InputError(
                    f"the kernel of stage {stage} turns a state leaf of shape {old.shape} and type "
                    f"{old.dtype} into one of shape {new.shape} and type {new.dtype}; they must match"
                )
