"""Peers on periodic grids: THRML's block Gibbs, and the loops that one would write by hand.

Each takes all chains' starts, of shape (chains, side, side), and returns a compiled function of a
key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import thrml
from thrml.models import CategoricalEBMFactor, CategoricalGibbsConditional, IsingEBM
from thrml.models import IsingSamplingProgram as IsingProgram

from doeblin.kernels import Potts

Run = Callable[[Any], Any]


def starts(chains: int, side: int, num_values: int) -> Any:
    shape = (chains, side, side)
    return jax.random.randint(jax.random.key(1), shape, 0, num_values, dtype=jnp.int8)


def vmapped(step: Callable[..., Any], *start: Any) -> Run:
    """All chains' steps, compiled. The starts are arguments: constants would be computed with while
    compiling."""

    @jax.jit
    def batched(key: Any, *start: Any) -> Any:
        return jax.vmap(step)(jax.random.split(key, len(start[0])), *start)

    return lambda key: batched(key, *start)


def thrml_sweeps(start: Any, coupling: float, num_values: int, sweeps: int) -> Run:
    kind = jnp.bool_ if num_values == 2 else jnp.uint8
    build = _thrml_ising if num_values == 2 else _thrml_potts
    side = start.shape[-1]
    program, blocks = build(side, coupling, num_values)
    colours = _colours(side)
    initial = [jnp.asarray(np.asarray(start)[:, colours == each]).astype(kind) for each in (0, 1)]
    schedule = thrml.SamplingSchedule(n_warmup=sweeps - 1, n_samples=1, steps_per_sample=1)

    def one(key: Any, first: Any, second: Any) -> Any:
        return thrml.sample_states(key, program, schedule, [first, second], [], blocks)

    return vmapped(one, *initial)


def _thrml_ising(side: int, coupling: float, num_values: int) -> tuple[Any, list[Any]]:
    nodes, edges, blocks = _thrml_grid(side, thrml.SpinNode)
    weights = jnp.full(len(edges), coupling / 2)
    ebm = IsingEBM(nodes, edges, jnp.zeros(len(nodes)), weights, jnp.array(1.0))
    return IsingProgram(ebm, blocks, []), blocks


def _thrml_potts(side: int, coupling: float, num_values: int) -> tuple[Any, list[Any]]:
    _, edges, blocks = _thrml_grid(side, thrml.CategoricalNode)
    pairs = [thrml.Block([edge[0] for edge in edges]), thrml.Block([edge[1] for edge in edges])]
    weights = jnp.tile(coupling * jnp.eye(num_values), (len(edges), 1, 1))
    kinds = {thrml.CategoricalNode: jax.ShapeDtypeStruct((), jnp.uint8)}
    spec = thrml.BlockGibbsSpec(blocks, [], kinds)
    conditional = CategoricalGibbsConditional(num_values)
    factor = CategoricalEBMFactor(pairs, weights)
    return thrml.FactorSamplingProgram(spec, [conditional] * 2, [factor], []), blocks


def _thrml_grid(
    side: int, node: Callable[[], Any]
) -> tuple[list[Any], list[tuple[Any, Any]], list[Any]]:
    """Nodes, edges and the two checkerboard blocks of a periodic grid."""
    nodes = np.array([[node() for _ in range(side)] for _ in range(side)], dtype=object)
    edges = []
    for axis in (0, 1):
        edges += list(zip(nodes.ravel(), np.roll(nodes, -1, axis).ravel(), strict=True))
    colours = _colours(side)
    blocks = [thrml.Block(nodes[colours == colour].tolist()) for colour in (0, 1)]
    return nodes.ravel().tolist(), edges, blocks


def _colours(side: int) -> np.ndarray:
    return np.indices((side, side)).sum(axis=0) % 2


def plain_checkerboard(start: Any, coupling: float, sweeps: int) -> Run:
    """Two values, all chains in one array, and a table of 16-bit thresholds: as little as a scan
    can do. Its probabilities are rounded to 2⁻¹⁶; ours are not."""
    colours = jnp.asarray(_colours(start.shape[-1]))
    odds = np.exp(coupling * (2 * np.arange(5) - 4))
    thresholds = jnp.asarray(np.round(2**16 * odds / (1 + odds)).astype(np.uint16))

    def sweep(state: Any, key: Any) -> tuple[Any, None]:
        bits = jax.random.bits(key, state.shape, jnp.uint16)
        for colour in (0, 1):
            ups = sum(jnp.roll(state, step, axis) for axis in (1, 2) for step in (1, -1))
            fresh = (bits < thresholds[ups]).astype(state.dtype)
            state = jnp.where(colours == colour, fresh, state)
        return state, None

    @jax.jit
    def scan(key: Any, start: Any) -> Any:
        return jax.lax.scan(sweep, start, jax.random.split(key, sweeps))[0]

    return lambda key: scan(key, start)


def plain_sites(start: Any, coupling: float, num_values: int, steps: int) -> Run:
    """A scan that redraws one site from its four neighbours."""
    side = start.shape[-1]

    def step(state: Any, key: Any) -> tuple[Any, None]:
        site_key, value_key = jax.random.split(key)
        row, column = jax.random.randint(site_key, (2,), 0, side)
        neighbours = jnp.stack(
            [
                state[(row + 1) % side, column],
                state[(row - 1) % side, column],
                state[row, (column + 1) % side],
                state[row, (column - 1) % side],
            ]
        )
        logits = coupling * (neighbours[:, None] == jnp.arange(num_values)).sum(axis=0)
        value = jax.random.categorical(value_key, logits).astype(state.dtype)
        return state.at[row, column].set(value), None

    return vmapped(
        lambda key, state: jax.lax.scan(step, state, jax.random.split(key, steps))[0], start
    )


def tight_sites(start: Any, coupling: float, steps: int) -> Run:
    """The same for two values, with what makes it fast: flat states, and one use of each key."""
    side = start.shape[-1]

    def step(state: Any, key: Any) -> tuple[Any, None]:
        words = jax.random.bits(key, (2,))
        site = (words[0] % side**2).astype(jnp.int32)
        row, column = site // side, site % side
        ups = (
            state[(row + 1) % side * side + column]
            + state[(row - 1) % side * side + column]
            + state[row * side + (column + 1) % side]
            + state[row * side + (column - 1) % side]
        )
        up = jax.nn.sigmoid(coupling * (2 * ups - 4).astype(jnp.float32))
        uniform = (words[1] >> 9).astype(jnp.float32) * 2.0**-23
        return state.at[site].set((uniform < up).astype(state.dtype)), None

    def walk(key: Any, state: Any) -> Any:
        return jax.lax.scan(step, state.ravel(), jax.random.split(key, steps))[0]

    return vmapped(walk, start)


def plain_whole(start: Any, model: Potts, steps: int) -> Run:
    """A generic loop as samplers that know only the log-density run it."""
    side, num_values = start.shape[-1], model.field.shape[0]

    def step(state: Any, key: Any) -> tuple[Any, None]:
        site_key, value_key = jax.random.split(key)
        row, column = jax.random.randint(site_key, (2,), 0, side)
        values = jnp.arange(num_values, dtype=state.dtype)
        logits = jax.vmap(lambda value: model(state.at[row, column].set(value)))(values)
        value = jax.random.categorical(value_key, logits).astype(state.dtype)
        return state.at[row, column].set(value), None

    return vmapped(
        lambda key, state: jax.lax.scan(step, state, jax.random.split(key, steps))[0], start
    )
