"""Gibbs on grids beside THRML and plain JAX loops; exact draws as lanes grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import thrml
from thrml.models import CategoricalEBMFactor, CategoricalGibbsConditional, IsingEBM
from thrml.models import IsingSamplingProgram as IsingProgram

import doeblin
from doeblin.kernels import ColouredSweep, IndependentSites, Potts, repeat

from ._timing import compare

SIDE = 64
CHAINS = 16
SWEEPS = 50
SINGLE_STEPS = 4096


def run() -> dict[str, Any]:
    return {
        "devices": [str(device) for device in jax.devices()],
        "ising": _grid(num_values=2, coupling=0.8),
        "potts": _grid(num_values=5, coupling=1.0),
        "exact_draws": _draws(),
    }


def _grid(num_values: int, coupling: float) -> dict[str, Any]:
    model = Potts((SIDE, SIDE), num_values=num_values, coupling=coupling)
    start = jax.random.randint(
        jax.random.key(1), (CHAINS, SIDE, SIDE), 0, num_values, dtype=jnp.int8
    )
    sweeps = repeat(ColouredSweep(model.checkerboard()), SWEEPS)
    single = repeat(model.gibbs(), SINGLE_STEPS)
    updates = {
        "doeblin checkerboard": SWEEPS * SIDE * SIDE * CHAINS,
        "thrml block gibbs": SWEEPS * SIDE * SIDE * CHAINS,
        "doeblin single-site gibbs": SINGLE_STEPS * CHAINS,
        "plain loop, local energy": SINGLE_STEPS * CHAINS,
        "plain loop, whole density": SINGLE_STEPS // 16 * CHAINS,
    }
    thrml_run = _thrml_ising if num_values == 2 else _thrml_potts
    seconds = compare(
        {
            "doeblin checkerboard": _vmapped(sweeps.sample, start),
            "thrml block gibbs": thrml_run(start, coupling, num_values),
            "doeblin single-site gibbs": _vmapped(single.sample, start),
            "plain loop, local energy": _vmapped(_plain_local(coupling, num_values), start),
            "plain loop, whole density": _vmapped(_plain_whole(model, num_values), start),
        }
    )
    rates = {name: updates[name] / seconds[name] for name in updates}
    for name, rate in rates.items():
        print(f"  {num_values}-value grid, {name}: {rate:,.0f} site updates/s", flush=True)
    block = rates["doeblin checkerboard"] / rates["thrml block gibbs"]
    site = rates["doeblin single-site gibbs"] / rates["plain loop, local energy"]
    print(f"  checkerboard against thrml: {block:.2f}; single-site against plain: {site:.2f}")
    return {
        "site_updates_per_second": rates,
        "checkerboard_over_thrml": block,
        "single_site_over_plain_local": site,
        "single_site_over_plain_whole": rates["doeblin single-site gibbs"]
        / rates["plain loop, whole density"],
    }


def _vmapped(step: Callable[..., Any], start: Any) -> Callable[[Any], Any]:
    batched = jax.jit(lambda key: jax.vmap(step)(jax.random.split(key, CHAINS), start))
    return batched


def _plain_local(coupling: float, num_values: int) -> Callable[..., Any]:
    """What a user would write by hand: a scan that redraws one site from its four neighbours."""

    def step(state: Any, key: Any) -> tuple[Any, None]:
        site_key, value_key = jax.random.split(key)
        row, column = jax.random.randint(site_key, (2,), 0, SIDE)
        neighbours = jnp.stack(
            [
                state[(row + 1) % SIDE, column],
                state[(row - 1) % SIDE, column],
                state[row, (column + 1) % SIDE],
                state[row, (column - 1) % SIDE],
            ]
        )
        logits = coupling * (neighbours[:, None] == jnp.arange(num_values)).sum(axis=0)
        value = jax.random.categorical(value_key, logits).astype(state.dtype)
        return state.at[row, column].set(value), None

    return lambda key, state: jax.lax.scan(step, state, jax.random.split(key, SINGLE_STEPS))[0]


def _plain_whole(model: Potts, num_values: int) -> Callable[..., Any]:
    """A generic loop as samplers that know only the log-density run it."""

    def step(state: Any, key: Any) -> tuple[Any, None]:
        site_key, value_key = jax.random.split(key)
        row, column = jax.random.randint(site_key, (2,), 0, SIDE)
        values = jnp.arange(num_values, dtype=state.dtype)
        logits = jax.vmap(lambda value: model(state.at[row, column].set(value)))(values)
        value = jax.random.categorical(value_key, logits).astype(state.dtype)
        return state.at[row, column].set(value), None

    steps = SINGLE_STEPS // 16
    return lambda key, state: jax.lax.scan(step, state, jax.random.split(key, steps))[0]


def _grid_nodes(node: Callable[[], Any]) -> tuple[list[Any], list[tuple[Any, Any]], list[Any]]:
    """Nodes, edges and the two checkerboard blocks of a periodic grid for THRML."""
    nodes = np.array([[node() for _ in range(SIDE)] for _ in range(SIDE)], dtype=object)
    edges = []
    for shift_axis in (0, 1):
        shifted = np.roll(nodes, -1, axis=shift_axis)
        edges += list(zip(nodes.ravel(), shifted.ravel(), strict=True))
    colours = np.indices((SIDE, SIDE)).sum(axis=0) % 2
    blocks = [thrml.Block(nodes[colours == colour].tolist()) for colour in (0, 1)]
    return nodes.ravel().tolist(), edges, blocks


def _thrml_sampler(program: Any, blocks: list[Any], initial: list[Any]) -> Callable[[Any], Any]:
    schedule = thrml.SamplingSchedule(n_warmup=SWEEPS - 1, n_samples=1, steps_per_sample=1)

    def one(key: Any, first: Any, second: Any) -> Any:
        return thrml.sample_states(key, program, schedule, [first, second], [], blocks)

    return jax.jit(lambda key: jax.vmap(one)(jax.random.split(key, CHAINS), *initial))


def _initial_blocks(start: Any, kind: Any) -> list[Any]:
    colours = np.indices((SIDE, SIDE)).sum(axis=0) % 2
    return [jnp.asarray(np.asarray(start)[:, colours == colour]).astype(kind) for colour in (0, 1)]


def _thrml_ising(start: Any, coupling: float, num_values: int) -> Callable[[Any], Any]:
    nodes, edges, blocks = _grid_nodes(thrml.SpinNode)
    weights = jnp.full(len(edges), coupling / 2)
    ebm = IsingEBM(nodes, edges, jnp.zeros(len(nodes)), weights, jnp.array(1.0))
    program = IsingProgram(ebm, blocks, [])
    return _thrml_sampler(program, blocks, _initial_blocks(start, jnp.bool_))


def _thrml_potts(start: Any, coupling: float, num_values: int) -> Callable[[Any], Any]:
    _, edges, blocks = _grid_nodes(thrml.CategoricalNode)
    pairs = [thrml.Block([edge[0] for edge in edges]), thrml.Block([edge[1] for edge in edges])]
    weights = jnp.tile(coupling * jnp.eye(num_values), (len(edges), 1, 1))
    kinds = {thrml.CategoricalNode: jax.ShapeDtypeStruct((), jnp.uint8)}
    spec = thrml.BlockGibbsSpec(blocks, [], kinds)
    conditional = CategoricalGibbsConditional(num_values)
    program = thrml.FactorSamplingProgram(
        spec, [conditional] * 2, [CategoricalEBMFactor(pairs, weights)], []
    )
    return _thrml_sampler(program, blocks, _initial_blocks(start, jnp.uint8))


def _draws() -> list[dict[str, Any]]:
    """Exact draws of a small Ising model at ε = 0.05, 16 tours a lane."""
    model = Potts((8, 8), num_values=2, coupling=0.6)
    chain = doeblin.doeblin(
        model.gibbs(), IndependentSites.uniform((8, 8), num_values=2), epsilon=0.05
    )
    rows = []
    for lanes in (1, 4, 16, 64, 256, 1024, 4096):
        num = 16 * lanes
        seconds = compare(
            {"draw": lambda key, n=num, k=lanes: chain.draw(key, n, lanes=k)}, rounds=3
        )
        useful = float(chain.draw(jax.random.key(0), num, lanes=lanes).useful)
        rate = num / seconds["draw"]
        print(
            f"  {lanes} lanes: {rate:,.0f} exact draws/s, useful lane-steps {useful:.3f}",
            flush=True,
        )
        rows.append({"lanes": lanes, "draws_per_second": rate, "useful_lane_steps": useful})
    return rows
