"""Search for the best labelling: sweeps that grow colder, then only what improves."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from numpy.typing import NDArray

from .._custom_types import RandomKey, Scalar
from .._inversion import invert, random_words
from .._numbers import whole
from ._given import Given, State
from ._kernels import put
from ._tree import on_forest

_COLDEST = 0.05
"""At this temperature a score of one less is drawn once in e²⁰ times."""
_MOST_SWEEPS = 1000
"""Of those that only improve: rounding must not keep them going for ever."""


class Best(NamedTuple):
    """A labelling and its log-density; no change of a single site makes it better."""

    labels: Int[Array | NDArray, " sites"]
    score: Float[Array, ""] | float


def annealed(key: RandomKey, given: Given, *, num_walks: int = 16, num_sweeps: int = 64) -> Best:
    """The best labelling that walks from the restart find while they grow cold (Kirkpatrick et al.,
    1983), by the density of all factors.

    The best one on the forest, exact by message passing, is a candidate, too: where all factors are
    on it, nothing is better. A search, not a proof: on graphs with loops a better one may exist.
    """
    whole("num_walks", num_walks, least=1)
    whole("num_sweeps", num_sweeps, least=1)
    return _annealed(key, given, num_walks, num_sweeps)


@eqx.filter_jit
def _annealed(key: RandomKey, given: Given, num_walks: int, num_sweeps: int) -> Best:
    colours = jnp.asarray(given.graph.colours)
    temperatures = jnp.geomspace(1.0, _COLDEST, num_sweeps)

    def cooled(key: RandomKey) -> State:
        start_key, walk_key = jax.random.split(key)

        def sweep(state: State, step: tuple[RandomKey, Scalar]) -> tuple[State, None]:
            key, temperature = step

            def redraw(state: State, here: tuple[Array, RandomKey]) -> tuple[State, None]:
                sites, key = here
                logits = given.conditionals(state, sites) / temperature
                values, _ = invert(logits, random_words(key, sites.shape))
                return put(state, sites, values), None

            steps = (colours, jax.random.split(key, colours.shape[0]))
            return jax.lax.scan(redraw, state, steps)[0], None

        keys = jax.random.split(walk_key, num_sweeps)
        start = given.law.sample(start_key, given.graph)
        return jax.lax.scan(sweep, start, (keys, temperatures))[0]

    def improved(state: State) -> State:
        def improve(state: State, sites: Array) -> tuple[State, None]:
            logits = given.conditionals(state, sites)
            now = jnp.take_along_axis(logits, state[sites][:, None], axis=1)[:, 0]
            better = logits.max(axis=1) > now
            values = jnp.where(better, logits.argmax(axis=1), state[sites])
            return put(state, sites, values), None

        def go_on(carry: tuple[State, State, Array]) -> Array:
            before, state, count = carry
            return (before != state).any() & (count < _MOST_SWEEPS)

        def sweep(carry: tuple[State, State, Array]) -> tuple[State, State, Array]:
            _, state, count = carry
            return state, jax.lax.scan(improve, state, colours)[0], count + 1

        return jax.lax.while_loop(go_on, sweep, (state - 1, state, jnp.array(0)))[1]

    walked = jax.vmap(cooled)(jax.random.split(key, num_walks))
    on_tree = on_forest(given.graph, given.scores).best(given.graph)[0]
    candidates = jax.vmap(improved)(jnp.concatenate([on_tree[None], walked]))
    scores = jax.vmap(given.log_density)(candidates)
    which = scores.argmax()
    return Best(candidates[which], scores[which])
