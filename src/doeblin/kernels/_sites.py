"""Discrete states as sites: the shared ground of the kernels that change some sites at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, Integer, Key

from .._custom_types import Count, Flag, Input, RandomKey, Scalar, State
from .._errors import InputError
from .._states import one_number, same_state

LogDensity = Callable[[State, Input], Any]
"""An unnormalised log-density of one state given the input."""


# A turn of a loop is started from the host. XLA starts five or more operations as one, and a small
# step has fewer.
_STEPS_A_TURN = {"gpu": 4}

_NO_CHOICE = (
    "a log-density returned NaN or +inf, or -inf for every value of a site; it must be finite, or "
    "-inf for impossible states (look for log(0) - log(0), 0 * inf and overflow in it, and start "
    "chains in states of positive probability)"
)


class Sites(eqx.Module):
    """Which integers of a state are its sites, and how many values each may take.

    Sites are numbered in the order of the flattened state (row-major, leaves in pytree order).
    `where` picks the part of the state that holds them, as in `equinox.tree_at`.
    """

    num_values: int = eqx.field(static=True)
    allowed: Bool[Array, "sites values"] | None
    where: Callable[[State], Any] | None = eqx.field(static=True)

    def __init__(self, num_values: int | Any, where: Callable[[State], Any] | None = None):
        # In numpy: inside `jit`, where kernels are built for learning, jnp would trace the checks.
        counts = np.asarray(num_values)
        if not np.issubdtype(counts.dtype, np.integer) or counts.ndim > 1 or counts.min() < 1:
            raise InputError(
                f"num_values = {num_values!r} must be a positive whole number, or one for each site"
            )
        self.num_values = int(counts.max())
        self.allowed = (
            None if counts.ndim == 0 else jnp.asarray(np.arange(self.num_values) < counts[:, None])
        )
        self.where = where

    def get(self, state: State) -> Integer[Array, " sites"]:
        """The values of all sites as one vector."""
        part = state if self.where is None else self.where(state)
        for leaf in jax.tree.leaves(part):
            if not jnp.issubdtype(jnp.result_type(leaf), jnp.integer):
                raise InputError(
                    f"sites must be integers, but the state has a leaf of type "
                    f"{jnp.result_type(leaf)}; name the integer part with `where=`"
                )
        values = ravel_pytree(part)[0]
        if self.allowed is not None and values.shape[0] != self.allowed.shape[0]:
            raise InputError(
                f"the state has {values.shape[0]} sites, but num_values was given for "
                f"{self.allowed.shape[0]}"
            )
        return values

    def counts(self, num_sites: int) -> Int[Array, " sites"]:
        """How many values each site may take."""
        if self.allowed is None:
            return jnp.full(num_sites, self.num_values)
        return self.allowed.sum(axis=-1)

    def put(self, state: State, values: Int[Array, " sites"]) -> State:
        """`state` with its sites replaced by `values`."""
        part = state if self.where is None else self.where(state)
        replaced = ravel_pytree(part)[1](values)
        return replaced if self.where is None else eqx.tree_at(self.where, state, replaced)

    def mask(self, logits: Float[Array, "*sites values"], site: Any = slice(None)):
        """Rule out values that a site does not have."""
        return logits if self.allowed is None else jnp.where(self.allowed[site], logits, -jnp.inf)

    def neighbours(self, state: State, site: Count) -> State:
        """The states that differ from `state` at most in `site`, one for each value, stacked."""
        values = self.get(state)
        candidates = jnp.arange(self.num_values, dtype=values.dtype)
        return jax.vmap(lambda value: self.put(state, values.at[site].set(value)))(candidates)

    def neighbourhood(self, state: State) -> tuple[State, Bool[Array, " states"]]:
        """The state itself, then all that differ from it in one site; and which of them exist.

        Sites with fewer values than others have entries that do not exist: they repeat the state.
        """
        values = self.get(state)

        def change(site: Count, shift: Count) -> tuple[State, Bool[Array, ""]]:
            value = (values[site] + shift) % self.num_values
            exists = jnp.array(True) if self.allowed is None else self.allowed[site, value]
            value = jnp.where(exists, value, values[site]).astype(values.dtype)
            return self.put(state, values.at[site].set(value)), exists

        site, shift = jnp.meshgrid(
            jnp.arange(values.shape[0]), jnp.arange(1, self.num_values), indexing="ij"
        )
        others, exist = jax.vmap(change)(site.ravel(), shift.ravel())
        states = jax.tree.map(lambda one, more: jnp.concatenate([one[None], more]), state, others)
        return states, jnp.concatenate([jnp.array([True]), exist])

    def contains(self, state: State) -> Bool[Array, ""]:
        """Whether every site has one of its values."""
        values = self.get(state)
        return ((values >= 0) & (values < self.counts(values.shape[0]))).all()

    def log_target(self, log_density: LogDensity, state: State, x: Input) -> Scalar:
        """The log-density of a state; -inf where a site has a value that is none of its own."""
        inside = self.contains(state)
        value = checked_scalar(log_density(state, x), where=inside)
        return jnp.where(inside, value, -jnp.inf)

    def same_rest(self, new: State, old: State) -> Bool[Array, ""]:
        """Whether everything in the two states but the sites agrees."""
        restored = self.put(new, self.get(old))
        return same_state(restored, old)


def check_laws(logits: Array, what: str) -> None:
    """Refuse rows of logits that are no law, where they can be looked at.

    Traced ones cannot: then `log_prob` is NaN.
    """
    if isinstance(logits, Tracer):
        return
    bad = np.argwhere(~np.isfinite(np.asarray(logits).max(axis=-1)))
    if len(bad):
        row = np.asarray(logits)[tuple(bad[0])]
        where = f"{what}{bad[0].tolist() if len(bad[0]) else ''}"
        raise InputError(
            f"{where} = {row.tolist()} is no law: logits must be numbers, or -inf for what is "
            "impossible, and not all of them"
        )


def checked_logits(logits: Array) -> Array:
    """Logits to choose by along the last axis, or a run-time error if there is no choice."""
    logits = jnp.asarray(logits)
    # The maximum is NaN or infinite if something is wrong, but XLA overlooks NaN on long axes.
    is_choice = jnp.isfinite(logits.max(axis=-1)).all() & ~jnp.isnan(logits).any()
    return checked_choice(logits, is_choice)


def checked_choice(chosen: Any, is_choice: Flag) -> Any:
    """What was chosen, or a run-time error if there was no choice.

    On a GPU the question is a trip to the host and back, longer than a step of many chains: loops
    carry the answers along and ask at their end.
    """
    return eqx.error_if(chosen, ~is_choice, _NO_CHOICE)


def over_keys(step: Callable[[Any, RandomKey], Any], carry: Any, keys: Key[Array, " steps"]) -> Any:
    """A loop with one step for each key."""
    if keys.shape[0] == 1:
        return step(carry, keys[0])
    unroll = _STEPS_A_TURN.get(jax.default_backend(), 1)
    return jax.lax.scan(lambda carry, key: (step(carry, key), None), carry, keys, unroll=unroll)[0]


def checked_scalar(value: Any, where: Any = True) -> Scalar:
    """A user's log-density of one state, checked to be one number and, `where` asked, not NaN."""
    value = one_number(value)
    return eqx.error_if(
        value,
        (jnp.isnan(value) | jnp.isposinf(value)) & where,
        "a log-density returned NaN or +inf; it must be finite, or -inf for impossible states "
        "(look for log(0) - log(0), 0 * inf and overflow in it)",
    )
