"""A chain given its input, and what estimators ask of it at many states at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from .._custom_types import Flag, Input, RandomKey, Scalar, State
from .._errors import InputError, UnsupportedError
from .._states import one_number
from ..chains import Chain
from ..kernels import AbstractKernel, AbstractRestart
from ._stages import log_restart_mass, reordered, safe_log
from ._tape import Tape, frozen, on_stage

# How many bytes of states and inputs are worked on at once where every slot has a state of its own:
# derivatives keep several times as much for each.
_AT_ONCE = 2**25
# A weight that matters in no sum, but is a number that can be divided by.
_TINY = 1e-30


class Model(eqx.Module):
    """A chain given its input, with z* as the last stage."""

    matrix: Float[Array, "stages stages"]
    kernels: tuple[AbstractKernel, ...]
    restart: AbstractRestart
    x: Input

    @classmethod
    def of(cls, chain: Chain, x: Input) -> Model:
        matrix = reordered(chain.stage_matrix, chain.restart_stage)
        kernels = tuple(kernel for kernel in chain.kernels if kernel is not None)
        return cls(matrix, kernels, chain.restart, x)

    @property
    def log_start(self) -> Scalar:
        return log_restart_mass(self.matrix)

    @property
    def never_leaves(self) -> Flag:
        """Whether a restart follows each restart, as in a plain chain with ε = 1."""
        return jnp.asarray(len(self.kernels) == 1) & (self.matrix[-1, 0] == 0)

    def demand(self, capability: Any, estimator: str) -> None:
        for kernel in self.kernels:
            if not kernel.supports(capability):
                raise UnsupportedError(
                    f"the {estimator} estimator needs kernels with `{capability}`, and "
                    f"{type(kernel).__name__} has none"
                )

    def check_datum(self, y: Any) -> None:
        """A datum is a state, so it must have the form of those that the restart draws."""
        key = jax.eval_shape(lambda: jax.random.key(0))
        drawn = eqx.filter_eval_shape(self.restart.sample, key, self.x)
        drawn, given = jax.tree.map(jnp.shape, drawn), jax.tree.map(jnp.shape, y)
        if drawn != given:
            raise InputError(
                f"the datum has shape {given}, but the restart draws states of shape {drawn}; give "
                "one datum (`jax.vmap` over many), or a `proposal` for states that are not seen"
            )

    def starts(self, key: RandomKey, count: int) -> State:
        """Draws from the restart, stacked."""
        keys = jax.random.split(key, count)
        return frozen(jax.vmap(lambda key: self.restart.sample(key, self.x))(keys))

    def log_u(self, states: State) -> Array:
        def one(state: State) -> Scalar:
            return one_number(self.restart.log_prob(state, self.x), "log_prob of a restart")

        return jax.vmap(one)(states)

    def log_stage(self, before: Array, after: Array) -> Array:
        """log C[before, after]. With several kernels, a move of probability zero is taken for an
        impossible one, and gets no gradient."""
        if len(self.kernels) == 1:
            # Without a gather: the one stage follows itself or z*. A first step of probability zero
            # has a derivative all the same (at ε = 1): a tiny weight times that of its logarithm.
            first = jnp.log(self.matrix[1, 0] + jnp.where(self.never_leaves, _TINY, 0))
            later = safe_log(self.matrix[0, 0])
            return jnp.where(before == 1, first, later)
        return safe_log(self.matrix[before, after])

    def log_prob(self, stage: Array, new: State, old: State) -> Array:
        """log A(new | old) at each slot, by the kernel of its stage."""

        def one(stage: Array, new: State, old: State) -> Scalar:
            return on_stage(
                self.kernels, stage, lambda kernel: self._step(kernel.log_prob, new, old)
            )

        return self._at_slots(one, stage, new, old)

    def _at_slots(self, one: Callable[..., Array], *slots: Any) -> Array:
        """A function of a state at each slot: of all at once, or in parts, if that takes too much
        memory; then what derivatives need is computed again, part by part."""
        leaves = [leaf for leaf in jax.tree.leaves(self.x) if eqx.is_array(leaf)]
        leaves += [leaf[0] for leaf in jax.tree.leaves(slots)]
        each = sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)
        number = jax.tree.leaves(slots)[0].shape[0]
        most = max(_AT_ONCE // each, 1)
        if number <= most:
            return jax.vmap(one)(*slots)
        # Of equal size, the last filled up: for another size all would be compiled once more.
        parts = -(-number // most)
        size = -(-number // parts)
        index = jnp.minimum(jnp.arange(parts * size), number - 1).reshape(parts, size)
        part = jax.checkpoint(lambda slots: jax.vmap(one)(*slots))
        return jax.lax.map(
            lambda own: part(jax.tree.map(lambda leaf: leaf[own], slots)), index
        ).reshape(-1)[:number]

    def _step(self, log_prob: Callable[..., Any], new: State, old: State) -> Scalar:
        return one_number(log_prob(new, old, self.x), "log_prob of a kernel")

    def log_move(self, tape: Tape, new: State) -> Array:
        """The same from a tape's old states; right where the two states differ."""

        def one(stage: Array, new: State, old: State) -> Scalar:
            return on_stage(
                self.kernels, stage, lambda kernel: self._step(kernel.log_move, new, old)
            )

        return self._at_slots(one, tape.stage, new, tape.old)

    def log_stay(self, tape: Tape, endpoints: Endpoints, possible: Array | None = None) -> Array:
        """log A(y | y) at each slot for its walk's y, computed once for each y and stage.

        Where staying is not `possible`, for the kernels and walks that it says (all are, without
        it), the gradient is taken at a step of the tape instead.
        """

        found = jnp.zeros(tape.stage.shape)
        for stage, kernel in enumerate(self.kernels):
            new = old = endpoints
            if possible is not None:
                slot = jnp.argmax(tape.stage == stage)
                taken = jax.tree.map(lambda leaf, slot=slot: leaf[slot], (tape.new, tape.old))
                new, old = (endpoints.instead(possible[stage], state) for state in taken)
            own = endpoints.each(
                jax.vmap(lambda new, old, kernel=kernel: self._step(kernel.log_prob, new, old)),
                new.states,
                old.states,
            )
            found = jnp.where(tape.stage == stage, tape.spread(own), found)
        return found

    def log_targets(
        self, states: State, spares: Spares | None = None, possible: Array | None = None
    ) -> Float[Array, "kernels states"]:
        """log π̂ by each kernel at each state.

        With `spares`, a state that is not `possible` is replaced by one that is, for the sake of
        the gradient.
        """
        found = []
        for number, kernel in enumerate(self.kernels):
            own = states
            if spares is not None and possible is not None:
                own = instead(possible[number], states, spares.inside(number))
            found.append(jax.vmap(lambda one, kernel=kernel: kernel.log_target(one, self.x))(own))
        return jnp.stack(found)

    def of_stage(self, stage: Array, values: Float[Array, "kernels slots"]) -> Array:
        """At each slot, the value of the kernel of its stage."""
        found = values[0]
        for number in range(1, len(self.kernels)):
            found = jnp.where(stage == number, values[number], found)
        return found

    def scores(self, tape: Tape, *, reverse: bool) -> Array:
        """Log-probability of the choices of each slot's step (or of the step back in time)."""
        kernels = [kernel.reverse() for kernel in self.kernels] if reverse else self.kernels

        def one(stage: Array, key: RandomKey, old: State) -> Scalar:
            return on_stage(
                kernels, stage, lambda kernel: kernel.sample_scored(key, old, self.x)[1]
            )

        return self._at_slots(one, tape.stage, tape.keys, tape.old)


class Spares(eqx.Module):
    """Draws from the restart. Where a state is impossible, one of them stands in for gradients."""

    states: State
    possible: Bool[Array, "kernels spares"]
    """Whether they have density under the target of each kernel."""

    @classmethod
    def of(cls, fixed: Model, states: State) -> Spares:
        return cls(states, fixed.log_targets(states) > -jnp.inf)

    @property
    def some_outside(self) -> Flag:
        """Whether the restart was seen to draw a state of zero density."""
        return ~self.possible.all()

    @property
    def first(self) -> State:
        return jax.tree.map(lambda leaf: leaf[0], self.states)

    def inside(self, kernel: int) -> State:
        """A state with density under the kernel's target, if there is one."""
        index = jnp.argmax(self.possible[kernel])
        return jax.tree.map(lambda leaf: leaf[index], self.states)


class Endpoints(eqx.Module):
    """The data as states, one for each walk: y itself, or draws of the latent state given y."""

    states: State
    log_proposed: Float[Array, " walks"]
    alike: bool = eqx.field(static=True)

    def each(self, function: Callable[..., Array], *states: State) -> Shaped[Array, "walks ..."]:
        """A function of stacked states, computed once if all walks have the same."""
        states = states or (self.states,)
        if not self.alike:
            return function(*states)
        one = function(*jax.tree.map(lambda leaf: leaf[:1], states))[0]
        return jnp.broadcast_to(one, (len(self.log_proposed), *one.shape))

    def instead(self, possible: Bool[Array, " walks"], other: State) -> Endpoints:
        """The same, with another state for the walks whose own is not possible."""
        return Endpoints(instead(possible, self.states, other), self.log_proposed, self.alike)

    @classmethod
    def draw(
        cls, key: RandomKey, model: Model, y: Any, proposal: AbstractRestart | None, num_walks: int
    ) -> Endpoints:
        if proposal is None:
            model.check_datum(y)
            states = jax.tree.map(
                lambda leaf: jnp.broadcast_to(leaf, (num_walks, *jnp.shape(leaf))), y
            )
            return cls(states, jnp.zeros(num_walks), alike=True)
        fixed, given = frozen(proposal), frozen((model.x, y))
        keys = jax.random.split(key, num_walks)
        states = frozen(jax.vmap(lambda key: fixed.sample(key, given))(keys))
        log_proposed = frozen(jax.vmap(lambda state: fixed.log_prob(state, given))(states))
        return cls(states, log_proposed, alike=False)


def instead(possible: Bool[Array, " n"], states: State, other: State) -> State:
    """Stacked states, with one other in place of those that are not possible."""
    return jax.tree.map(
        lambda leaf, other: jnp.where(
            possible.reshape(possible.shape + (1,) * (leaf.ndim - 1)), leaf, other
        ).astype(leaf.dtype),
        states,
        other,
    )
