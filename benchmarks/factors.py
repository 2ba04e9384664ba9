"""Derived conditionals: sweeps beside THRML and a hand-written grid; growth with degree, values,
sites and batch; time to compile."""

from __future__ import annotations

import statistics
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from doeblin.factors import ColourSweep, Graph, Model, Table, TreeRestart
from doeblin.kernels import ColouredSweep, Potts, repeat

from . import _grids as grids
from ._timing import compare
from .chains import CHAINS, SIDE, SWEEPS


def run() -> dict[str, Any]:
    return {
        "devices": [str(device) for device in jax.devices()],
        "ising": _grid(num_values=2, coupling=0.8),
        "potts": _grid(num_values=5, coupling=1.0),
        "growth": _growth(),
        "restart": _restart(),
    }


def _grid(num_values: int, coupling: float) -> dict[str, float]:
    """The same sweeps of a periodic grid: derived from factors, by hand, and by THRML."""
    side, sweeps, num_chains = SIDE, SWEEPS, CHAINS
    start = grids.starts(num_chains, side, num_values)
    by_hand = Potts((side, side), num_values=num_values, coupling=coupling).checkerboard()
    given = Model({"pair": Table(coupling * np.eye(num_values))}).given(_torus(side, num_values))
    derived = repeat(ColourSweep(), sweeps)
    flat = start.reshape(num_chains, -1).astype(jnp.int32)
    seconds = compare(
        {
            "derived from factors": jax.jit(
                lambda key: jax.vmap(lambda key, state: derived.sample(key, state, given))(
                    jax.random.split(key, num_chains), flat
                )
            ),
            "written by hand (Potts)": grids.vmapped(
                repeat(ColouredSweep(by_hand), sweeps).sample, start
            ),
            "thrml block gibbs": grids.thrml_sweeps(start, coupling, num_values, sweeps),
        },
        rounds=5,
    )
    rates = {name: sweeps * side * side * num_chains / each for name, each in seconds.items()}
    for name, rate in rates.items():
        print(f"  {num_values}-value grid, {name}: {rate:,.0f} site updates/s", flush=True)
    return rates


def _torus(side: int, num_values: int) -> Graph:
    sites = np.arange(side * side).reshape(side, side)
    edges = [np.stack([sites.ravel(), np.roll(sites, -1, axis).ravel()], 1) for axis in (0, 1)]
    return Graph.of(np.full(side * side, num_values), {"pair": np.concatenate(edges)})


def _growth() -> list[dict[str, float]]:
    """Conditionals of rings whose sites see their nearest, by processor seconds: of the graph, of
    the first call (compiling is all that it has more than others), the second and later ones."""
    found = []
    for sites, degree, values, batch in [
        (256, 4, 2, 16),
        (1024, 4, 2, 16),
        (4096, 4, 2, 16),
        (16384, 4, 2, 16),
        (1024, 8, 2, 16),
        (1024, 16, 2, 16),
        (1024, 32, 2, 16),
        (1024, 4, 8, 16),
        (1024, 4, 32, 16),
        (1024, 4, 2, 1),
        (1024, 4, 2, 256),
    ]:
        began = time.process_time()
        ring = np.arange(sites)
        steps = np.arange(1, degree // 2 + 1)
        edges = [np.stack([ring, (ring + step) % sites], axis=1) for step in steps]
        graph = Graph.of(np.full(sites, values), {"pair": np.concatenate(edges)})
        built = time.process_time() - began
        given = Model({"pair": Table(0.1 * np.eye(values))}).given(graph)
        states = jax.random.randint(jax.random.key(0), (batch, sites), 0, values)

        def all_sites(given: Any, states: Any) -> Any:
            return jax.vmap(given.conditionals)(states)

        called, seconds = eqx.filter_jit(all_sites), []
        for _ in range(10):
            began = time.process_time()
            jax.block_until_ready(called(given, states))
            seconds.append(time.process_time() - began)
        later = statistics.median(seconds[1:])
        row = {
            "sites": sites,
            "degree": degree,
            "values": values,
            "batch": batch,
            "conditionals_per_cpu_s": batch * sites / later,
            "graph_cpu_s": built,
            "compile_cpu_s": seconds[0] - later,
            "first_call_cpu_s": seconds[0],
            "second_call_cpu_s": seconds[1],
            "later_call_cpu_s": later,
        }
        print(
            f"  {sites} sites, degree {degree}, {values} values, batch {batch}: "
            f"{row['conditionals_per_cpu_s']:,.0f} conditionals/s, graph {built:.2f} s, first "
            f"call {seconds[0]:.2f} s, second {seconds[1]:.4f} s, later {later:.4f} s",
            flush=True,
        )
        found.append(row)
    return found


def _restart() -> list[dict[str, float]]:
    """Sums and draws on the forest of a grid."""
    found = []
    for side in (16, 32, 64):
        graph = _torus(side, 2)
        model = Model({"pair": Table(0.4 * np.eye(2))})
        sums = eqx.filter_jit(lambda model, graph: model.given(graph).law)
        given = model.given(graph)
        draw = jax.jit(
            lambda key, given=given: jax.vmap(lambda key: TreeRestart().sample(key, given))(
                jax.random.split(key, 16)
            )
        )
        seconds = compare(
            {
                "sums": lambda _, sums=sums, graph=graph, model=model: sums(model, graph),
                "draws": draw,
            }
        )
        row = {"sites": side * side, "rounds": len(graph.rounds), **seconds}
        print(f"  forest of {side}x{side}: {row}", flush=True)
        found.append(row)
    return found
