"""Laws and times of small chains inside compiled code, right to the digits of a float.

States are taken out one by one, each with the chances of passing through it. Nothing is ever
subtracted, so every entry keeps its digits, however rare the moves are, and so does its gradient
(Grassmann, Taksar & Heyman, 1985), as long as products of two chances are floats: in single
precision 10⁻³⁷. A linear system of I - A loses the digits that it takes to say how rare moves are.
`_stochastic.invariant_law` is the same in numpy.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def invariant(matrix: Float[Array, "n n"]) -> Float[Array, " n"]:
    """The invariant law of a chain whose states all lead to the first. Its diagonal is not read."""
    ways, _, exits = _taken_out(matrix)

    def put_back(law: Array, state: Array) -> tuple[Array, None]:
        came = jnp.where(jnp.arange(len(law)) < state, ways[:, state], 0)
        mass = _over(jnp.sum(law * came), exits[state])
        # A law all along: masses may grow from state to state beyond all floats.
        return _over(law.at[state].set(mass), 1 + mass), None

    only_first = jnp.zeros(len(matrix), matrix.dtype).at[0].set(1)
    return jax.lax.scan(put_back, only_first, jnp.arange(1, len(matrix)))[0]


def until_first(matrix: Float[Array, "n n"]) -> Float[Array, " n"]:
    """Expected steps from each state until the chain is in the first, at least one: from the first
    itself, until it is back."""
    ways, steps, exits = _taken_out(matrix)

    def put_back(times: Array, state: Array) -> tuple[Array, None]:
        on = jnp.sum(jnp.where(jnp.arange(len(times)) < state, ways[state], 0) * times)
        return times.at[state].set(_over(steps[state] + on, exits[state])), None

    times = jax.lax.scan(put_back, jnp.zeros_like(steps), jnp.arange(1, len(matrix)))[0]
    return times.at[0].set(steps[0])


_TakenOut = tuple[Float[Array, "n n"], Float[Array, " n"], Float[Array, " n"]]


def _taken_out(matrix: Float[Array, "n n"]) -> _TakenOut:
    """All states but the first taken out, the last first: for each the chances of the ways to it
    and from it on to those before it, the steps until it leaves to one of them, and the chance to.
    """
    size = len(matrix)
    states = jnp.arange(size)
    # What floats cannot say is next to nothing: then all mass is where the chain stays.
    least = 2 * jnp.finfo(matrix.dtype).tiny

    def take_out(carry: _TakenOut, last: Array) -> tuple[_TakenOut, None]:
        ways, steps, exits = carry
        before = states < last
        on = jnp.where(before, ways[last], 0)
        out = jnp.where(last > 0, jnp.maximum(on.sum(), least), 1)
        came = jnp.where(before, ways[:, last], 0)
        ways = ways + came[:, None] * _over(on, out)[None, :]
        steps = steps + came * _over(steps[last], out)
        return (ways, steps, exits.at[last].set(out)), None

    # A gradient remembers the table at the beginning of every turn only. Taking out the first
    # state, which fills up the last turn, changes nothing.
    turn = math.isqrt(size - 1) + 1
    order = jnp.pad(jnp.arange(size)[:0:-1], (0, -(size - 1) % turn)).reshape(-1, turn)
    one_turn = jax.checkpoint(lambda carry, states: jax.lax.scan(take_out, carry, states))
    ones = jnp.ones(size, matrix.dtype)
    return jax.lax.scan(one_turn, (matrix, ones, ones), order)[0]


@jax.custom_jvp
def _over(some: Array, all_: Array) -> Array:
    """A quotient. JAX's derivative has the divisor's square, which may be less than any float."""
    return some / all_


@_over.defjvp
def _(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (some, all_), (more, wider) = primals, tangents
    share = some / all_
    return share, more / all_ - share * (wider / all_)
