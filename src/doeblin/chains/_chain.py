"""Strong Doeblin and staged chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int

from .._custom_types import Count, Input, RandomKey, State
from .._errors import InputError
from .._mesh import as_set, checked_mesh, everywhere, using
from .._numbers import whole
from .._plain import plain_errors
from ..kernels import AbstractKernel, AbstractRestart, FiniteKernel, FiniteRestart
from ..schedules import Certificate, Schedule, certify, checked_epsilon
from ._by_value import ByValue, NotByValueError, Once, by_value
from ._keys import checked_key
from ._regeneration import Estimate, estimate_from_tours
from ._sums import TourSums
from ._tours import Lanes, Tours, check_shapes, exact_draws, tour_sums


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
    """A staged strong Doeblin chain, as [`doeblin`][doeblin.chains.doeblin] and
    [`staged`][doeblin.chains.staged] make it.

    One step draws the next stage from `stage_matrix`, then moves the state by that stage's kernel;
    the restart stage draws a fresh state from `restart`. The stationary law π̃ *is* the model.

    Functions inside of kernels and restarts are compiled once, as by `jax.jit`: what they look at
    outside of themselves must not change. Give what changes as the input x, or build a new chain.
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
        state = self.restart.sample(checked_key(key), x)
        return beginning(state, self.restart_stage)

    def step(self, key: RandomKey, position: Position, x: Input = None) -> Position:
        """One step of the chain, for loops inside of `jax.jit`: alone it is compiled each time."""
        stage_key, state_key = jax.random.split(checked_key(key))
        # The other mode of `categorical` would restart too rarely where ε is below 1e-6.
        stage = jax.random.categorical(
            stage_key, jnp.log(self.stage_matrix[position.stage]), mode="high"
        ).astype(jnp.int32)
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
            position.tour + restarted.astype(jnp.int32),
        )

    def run(
        self, key: RandomKey, num_steps: int, x: Input = None, *, start: Position | None = None
    ) -> Position:
        """Run the chain and keep every position, in a leading axis of length `num_steps`.

        Runs from a fresh restart unless `start` is given. For many chains or inputs, `jax.vmap`
        over keys and inputs.
        """
        num_steps = whole("num_steps", num_steps, least=1)
        if start is not None:
            self._check_start(start)
        with plain_errors():
            return _run(self, checked_key(key), num_steps, x, start)

    def _check_start(self, start: Position) -> None:
        """Refuse what is no position, as far as it can be looked at."""
        if not isinstance(start, Position):
            raise InputError(f"start = {start!r} is no Position, such as `init` or `run` give")
        sizes = [kernel.logits.shape[0] for kernel in self.kernels if _is_finite(kernel)]
        for name, value, size in (
            ("stage", start.stage, len(self.kernels)),
            ("state", start.state, sizes[0] if sizes else None),
        ):
            if size is None or isinstance(value, Tracer):
                continue
            if jnp.shape(value) != ():
                raise InputError(
                    f"start.{name} has shape {jnp.shape(value)}: it must be one position, such as "
                    "the last of a run, jax.tree.map(lambda leaf: leaf[-1], run)"
                )
            if not 0 <= int(value) < size:
                raise InputError(f"start.{name} = {int(value)} is none of 0 to {size - 1}")

    def draw(
        self,
        key: RandomKey,
        num_draws: int,
        x: Input = None,
        *,
        lanes: int | None = None,
        mesh: Mesh | None = None,
    ) -> Draws:
        """Exact, independent draws from the joint stationary law of (stage, state).

        Tours are packed into `lanes` that run side by side (by default 64 to 1024 of them); the
        draws do not depend on how many. With a `mesh`, or inside of `jax.set_mesh`, tours and lanes
        are spread over its devices, and the draws stay there; they do not depend on the mesh,
        either.
        """
        xs = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], x)
        return self._draw(key, num_draws, xs, None, lanes, mesh)

    def draw_each(
        self,
        key: RandomKey,
        num_draws: int,
        xs: Input,
        *,
        lanes: int | None = None,
        mesh: Mesh | None = None,
    ) -> Draws:
        """`num_draws` exact draws for each input in `xs` (a leading axis). All share the lanes."""
        sizes = {jnp.shape(leaf)[:1] for leaf in jax.tree.leaves(xs)}
        if len(sizes) != 1 or sizes & {(), (0,)}:
            lengths = [size[0] if size else "none" for size in sorted(sizes)]
            raise InputError(
                "the leaves of xs need one leading axis in common, with an input or more, got "
                f"lengths {lengths}; without inputs, use `draw`"
            )
        return self._draw(key, num_draws, xs, sizes.pop()[0], lanes, mesh)

    def _draw(
        self,
        key: RandomKey,
        num_draws: int,
        xs: Input,
        num_inputs: int | None,
        lanes: int | None,
        mesh: Mesh | None,
    ) -> Draws:
        """Without the axis of inputs if there is but one, which has no number."""
        num_draws, inputs = whole("num_draws", num_draws, least=1), num_inputs or 1
        mesh = checked_mesh(mesh)
        packing = _lanes(lanes, num_draws * inputs, mesh)
        given = everywhere(mesh, (self, checked_key(key), xs))
        with plain_errors(), using(mesh):
            draws = Draws(*exact_draws(*given, num_draws, inputs, packing))
            if num_inputs is None:
                draws = jax.tree.map(lambda leaf: leaf[0] if leaf.ndim else leaf, draws)
        return draws if mesh is None else as_set(draws)

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
        mesh: Mesh | None = None,
    ) -> Estimate:
        """The expectation of `function(state)` under π̃, with an honest standard error.

        Tours between restarts are independent, so their sums give a ratio estimator with a central
        limit theorem and no autocorrelations to guess. Memory is that of `chunk` tours. With
        `stages`, the expectation is that given that the chain is in one of them. With a `mesh`, or
        inside of `jax.set_mesh`, the tours of a chunk are spread over its devices; the estimate is
        the same.

        A function of the same code over the same numbers, arrays and functions is compiled once. If
        it looks at objects of other kinds, which may change, it is compiled anew at each call: give
        it what it needs of them by local variables.
        """
        num_tours = whole("num_tours", num_tours, least=2)
        chunk = whole("chunk", chunk, least=1)
        if not callable(function):
            raise InputError(f"function = {function!r:.40} must be a function of one state")
        wanted = np.ones(len(self.kernels), dtype=bool)
        if stages is not None:
            stages = [whole("stages", stage, least=0) for stage in _items(stages)]
            if not stages or max(stages) >= len(self.kernels):
                raise InputError(
                    f"stages = {list(stages)} must name some of the stages 0 to "
                    f"{len(self.kernels) - 1}"
                )
            wanted = np.isin(np.arange(len(self.kernels)), stages)

        key = checked_key(key)
        _refuse_tracers((self, key, x))
        mesh = checked_mesh(mesh)
        chain, key, x, stages_wanted = everywhere(mesh, (self, key, x, jnp.asarray(wanted)))

        def tours(function: Callable[[State], Any], first: int, count: int) -> TourSums:
            start = everywhere(mesh, jnp.asarray(first, jnp.int32))
            some = Tours(chain, key, start, count, function, x, stages_wanted)
            found = tour_sums(_lanes(lanes, count, mesh), some)
            _refuse_tracers(found)
            return found

        compared = everywhere(mesh, by_value(function))
        with plain_errors(), using(mesh):
            try:
                return estimate_from_tours(partial(tours, compared), num_tours, chunk)
            except (NotByValueError, TypeError, IndexError):
                # A function may look at its arrays as only constants can be looked at.
                if not isinstance(compared, ByValue):
                    raise
            return estimate_from_tours(partial(tours, Once(function)), num_tours, chunk)


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
    _check_parts([kernel], restart)
    # A restart may follow a restart at once, so both rows are the same.
    return Chain(jnp.tile(_restart_or_not(epsilon), (2, 1)), (None, kernel), restart, 0)


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


def _restart_or_not(epsilon: Any) -> Float[Array, " 2"]:
    """ε and 1-ε. A traced ε can be looked at only when the compiled program runs."""
    if not isinstance(epsilon, Tracer):
        value = checked_epsilon(epsilon)
        # In numpy: inside `jit`, where chains are built for learning, jnp would trace the check.
        both = np.array([value, 1 - value], dtype=jnp.result_type(float))
        if not both[0] > 0:
            raise InputError(f"epsilon = {value:g} is zero in {both.dtype}; it must be larger")
        return jnp.asarray(both)
    if jnp.shape(epsilon) != ():
        raise InputError(
            f"epsilon must be one number, got shape {jnp.shape(epsilon)}; `jax.vmap` over it"
        )
    inside = (epsilon > 0) & (epsilon <= 1)
    epsilon = eqx.error_if(
        jnp.asarray(epsilon, jnp.result_type(epsilon, float)),
        ~inside,
        "epsilon is outside (0, 1]; it is the probability of a restart at each step (keep a "
        "learned one inside, by jax.nn.sigmoid for instance)",
    )
    return jnp.stack([epsilon, 1 - epsilon])


@eqx.filter_jit
def _run(
    chain: Chain, key: RandomKey, num_steps: int, x: Input, start: Position | None
) -> Position:
    check_shapes(chain, x)
    init_key, run_key = jax.random.split(key)
    first = chain.init(init_key, x) if start is None else start

    def step(position: Position, key: RandomKey) -> tuple[Position, Position]:
        following = chain.step(key, position, x)
        return following, following

    return jax.lax.scan(step, first, jax.random.split(run_key, num_steps))[1]


def beginning(state: State, restart_stage: int) -> Position:
    """A run that starts at this state."""
    zero = jnp.array(0, jnp.int32)
    return Position(state, jnp.array(restart_stage, jnp.int32), zero, zero)


def _refuse_tracers(tree: Any) -> None:
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(tree)):
        raise InputError(
            "`estimate` cannot be traced by jit, vmap or grad: it decides chunk by chunk on the "
            "host; call it outside (what it runs is compiled), or use `draw` or `run` inside"
        )


def _is_finite(kernel: Any) -> TypeGuard[FiniteKernel]:
    return isinstance(kernel, FiniteKernel)


def _items(stages: Any) -> Sequence[Any]:
    if isinstance(stages, str) or not hasattr(stages, "__iter__"):
        raise InputError(f"stages = {stages!r} must be a list of the numbers of stages")
    return list(stages)


def _lanes(lanes: int | None, num_tours: int, mesh: Mesh | None) -> Lanes:
    if lanes is not None:
        lanes = whole("lanes", lanes, least=1)
    # Some tours a lane keep lanes busy to the end; few lanes would leave vector units idle.
    devices = 1 if mesh is None else mesh.size
    share = -(-num_tours // devices)
    default = min(max(64, share // 8), 1024)
    return Lanes(min(-(-lanes // devices) if lanes else default, share), mesh)


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
        if isinstance(kernel, FiniteKernel) and isinstance(restart, FiniteRestart):
            known, drawn = kernel.logits.shape[0], restart.logits.shape[0]
            if known != drawn:
                raise InputError(
                    f"the restart draws from {drawn} states, but the kernel's matrix has {known}"
                )
