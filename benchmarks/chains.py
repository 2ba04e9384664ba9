"""Gibbs on grids beside THRML and plain JAX loops; exact draws as lanes grow."""

from __future__ import annotations

from typing import Any

import jax

import doeblin
from doeblin.kernels import ColouredSweep, IndependentSites, Potts, repeat

from ._grids import plain_sites, plain_whole, starts, thrml_sweeps, vmapped
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
    start = starts(CHAINS, SIDE, num_values)
    sweeps = repeat(ColouredSweep(model.checkerboard()), SWEEPS)
    single = repeat(model.gibbs(), SINGLE_STEPS)
    updates = {
        "doeblin checkerboard": SWEEPS * SIDE * SIDE * CHAINS,
        "thrml block gibbs": SWEEPS * SIDE * SIDE * CHAINS,
        "doeblin single-site gibbs": SINGLE_STEPS * CHAINS,
        "plain loop, local energy": SINGLE_STEPS * CHAINS,
        "plain loop, whole density": SINGLE_STEPS // 16 * CHAINS,
    }
    seconds = compare(
        {
            "doeblin checkerboard": vmapped(sweeps.sample, start),
            "thrml block gibbs": thrml_sweeps(start, coupling, num_values, SWEEPS),
            "doeblin single-site gibbs": vmapped(single.sample, start),
            "plain loop, local energy": plain_sites(start, coupling, num_values, SINGLE_STEPS),
            "plain loop, whole density": plain_whole(start, model, SINGLE_STEPS // 16),
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
