"""Laws and times of small chains inside compiled code, right to the digits of a float.

States are taken out one by one, each with the chances of passing through it. Nothing is ever
subtracted, so every entry keeps its digits, however rare the moves are, and so does its gradient
(Grassmann, Taksar & Heyman, 1985). A linear system of I - A loses those that it takes to say how
rare they are. `_stochastic.invariant_law` is the same in numpy.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def invariant(matrix: Float[Array, "n n"]) -> Float[Array, " n"]:
    """The invariant law of a chain whose states all lead to the first. Its diagonal is not read."""
    ways, _, _ = _taken_out(matrix)

    def put_back(law: Array, state: Array) -> tuple[Array, None]:
        mass = jnp.sum(law * jnp.where(jnp.arange(len(law)) < state, ways[:, state], 0))
        # A law all along: masses may grow from state to state beyond all floats.
        return law.at[state].set(mass) / (1 + mass), None

    only_first = jnp.zeros(len(matrix), matrix.dtype).at[0].set(1)
    return jax.lax.scan(put_back, only_first, jnp.arange(1, len(matrix)))[0]


def until_first(matrix: Float[Array, "n n"]) -> Float[Array, " n"]:
    """Expected steps from each state until the chain is in the first, at least one: from the first
    itself, until it is back."""
    ways, steps, exits = _taken_out(matrix)

    def put_back(times: Array, state: Array) -> tuple[Array, None]:
        on = jnp.sum(jnp.where(jnp.arange(len(times)) < state, ways[state], 0) * times)
        return times.at[state].set((steps[state] + on) / exits[state]), None

    times = jax.lax.scan(put_back, jnp.zeros_like(steps), jnp.arange(1, len(matrix)))[0]
    return times.at[0].set(steps[0])


_TakenOut = tuple[Float[Array, "n n"], Float[Array, " n"], Float[Array, " n"]]


def _taken_out(matrix: Float[Array, "n n"]) -> _TakenOut:
    """All states but the first taken out, the last first: for each the ways on to those before it,
    how often these lead there, its steps until it leaves to one of them, and the chance to."""
    size = len(matrix)

    def take_out(carry: _TakenOut, last: Array) -> tuple[_TakenOut, None]:
        ways, steps, exits = carry
        before = jnp.arange(size) < last
        on = jnp.where(before, ways[last], 0)
        out = jnp.where(last > 0, on.sum(), 1)
        visits = jnp.where(before, ways[:, last] / out, 0)
        ways = ways + visits[:, None] * on[None, :]
        ways = ways.at[:, last].set(jnp.where(before, visits, ways[:, last]))
        return (ways, steps + visits * steps[last], exits.at[last].set(out)), None

    # A gradient remembers the table at the beginning of every turn only. Taking out the first
    # state, which fills up the last turn, changes nothing.
    turn = math.isqrt(size - 1) + 1
    order = jnp.pad(jnp.arange(size)[:0:-1], (0, -(size - 1) % turn)).reshape(-1, turn)
    one_turn = jax.checkpoint(lambda carry, states: jax.lax.scan(take_out, carry, states))
    ones = jnp.ones(size, matrix.dtype)
    return jax.lax.scan(one_turn, (matrix, ones, ones), order)[0]
