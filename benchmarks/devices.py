"""Gibbs on grids beside THRML and hand-written loops, on whatever device there is.

The sizes are the same everywhere; only the number of sweeps goes with the device.
"""

from __future__ import annotations

from typing import Any

import jax

from doeblin.kernels import ColouredSweep, Potts, repeat

from ._grids import Run, plain_checkerboard, plain_sites, starts, thrml_sweeps, tight_sites, vmapped
from ._timing import compare

UPDATES = {"cpu": 2**24, "gpu": 2**31}
"""Site updates in one timed call, about."""
ISING, POTTS = {"num_values": 2, "coupling": 0.8}, {"num_values": 5, "coupling": 1.0}


def run() -> dict[str, Any]:
    devices = [f"{device.device_kind} ({device})" for device in jax.devices()]
    print(f"  devices: {', '.join(devices)}; JAX {jax.__version__}", flush=True)
    rows = [
        _sweeps("checkerboard Ising", side=64, chains=16, **ISING),
        _sweeps("checkerboard Ising", side=128, chains=512, **ISING),
        _sweeps("checkerboard Potts, 5 values", side=128, chains=512, **POTTS),
        _sweeps("checkerboard Ising", side=16, chains=65_536, **ISING),
        _sites("single-site Ising", side=16, chains=65_536, **ISING),
    ]
    return {"devices": devices, "jax": jax.__version__, "rows": rows}


def _sweeps(name: str, *, side: int, chains: int, num_values: int, coupling: float) -> Any:
    model = Potts((side, side), num_values=num_values, coupling=coupling)
    start = starts(chains, side, num_values)
    sweeps = _number(side**2 * chains)
    ours = repeat(ColouredSweep(model.checkerboard()), sweeps)
    contenders = {
        "doeblin": vmapped(ours.sample, start),
        "THRML": thrml_sweeps(start, coupling, num_values, sweeps),
    }
    if num_values == 2:
        contenders["plain scan, 16-bit thresholds"] = plain_checkerboard(start, coupling, sweeps)
    return _row(name, (chains, side, side), sweeps * side**2 * chains, contenders)


def _sites(name: str, *, side: int, chains: int, num_values: int, coupling: float) -> Any:
    model = Potts((side, side), num_values=num_values, coupling=coupling)
    start = starts(chains, side, num_values)
    steps = _number(16 * chains)
    contenders = {
        "doeblin": vmapped(repeat(model.gibbs(), steps).sample, start),
        "plain scan": plain_sites(start, coupling, num_values, steps),
        "plain scan, flat": tight_sites(start, coupling, steps),
    }
    return _row(name, (chains, side, side), steps * chains, contenders)


def _number(updates: int) -> int:
    """How often to make as many site updates at once."""
    return max(2, UPDATES.get(jax.default_backend(), UPDATES["cpu"]) // updates)


def _row(name: str, shape: tuple[int, ...], updates: int, contenders: dict[str, Run]) -> Any:
    rounds = 3 if jax.default_backend() == "cpu" else 7
    rates = {key: updates / each for key, each in compare(contenders, rounds=rounds).items()}
    ratios = {key: rates["doeblin"] / rate for key, rate in rates.items() if key != "doeblin"}
    chains, *sides = shape
    label = f"{name}, {' × '.join(map(str, sides))}, {chains:,} chains"
    print(f"  {label}: {rates['doeblin'] / 1e9:,.4g} G site updates/s", flush=True)
    for key, ratio in ratios.items():
        print(f"    {key}: {rates[key] / 1e9:,.4g} G; ours over it {ratio:.2f}", flush=True)
    return {
        "model": name,
        "chains": chains,
        "shape": sides,
        "site_updates_per_second": rates,
        "doeblin_over": ratios,
    }
