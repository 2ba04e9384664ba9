"""Training: transitions a second, how cost grows, and gradient variance × time.

Runs unchanged on a GPU; the devices are in the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from doeblin.chains import Chain, doeblin
from doeblin.kernels import Gibbs, IndependentSites
from doeblin.learning import (
    AbstractEstimator,
    ApproximateGibbs,
    Bidirectional,
    Contrastive,
    FixedHorizon,
    Forward,
    Geometric,
    Reversal,
    Reward,
    edit_distance_reward,
)

LENGTH, VALUES = 8, 4
DEFAULT = {"num_walks": 16, "epsilon": 0.1, "batch": 16, "parameters": 1 << 10}
# Large enough that a step's arithmetic outweighs what starting one costs.
LARGE = {**DEFAULT, "num_walks": 64}
# As much at once as fills a GPU; on a CPU it would only take long.
FULL = {**LARGE, "batch": 2048}
GROWTH = {
    "num_walks": (LARGE, [64, 256, 1024]),
    "epsilon": (LARGE, [0.1, 0.025, 0.00625]),
    "batch": (LARGE, [16, 64, 256]),
    "parameters": ({**DEFAULT, "num_walks": 4, "batch": 4}, [1 << 18, 1 << 20, 1 << 22]),
}
SECONDS, SEEDS = 0.5, 64


class PairModel(eqx.Module):
    """Weights of neighbouring pairs of values, hashed into a table of any size."""

    table: jax.Array

    def number(self, place: Any, before: Any, after: Any) -> jax.Array:
        mixed = ((place * VALUES + before) * VALUES + after) * 7919
        return mixed % self.table.shape[0]

    def __call__(self, state: jax.Array, x: Any = None) -> jax.Array:
        places = jnp.arange(LENGTH - 1)
        return self.table[self.number(places, state[:-1], state[1:])].sum()

    def conditional(self, state: jax.Array, site: jax.Array, x: Any = None) -> jax.Array:
        values = jnp.arange(VALUES)
        before = self.table[self.number(site - 1, state[site - 1], values)]
        after = self.table[self.number(site, values, state[(site + 1) % LENGTH])]
        return jnp.where(site > 0, before, 0) + jnp.where(site < LENGTH - 1, after, 0)


def parameters(size: int, seed: int = 0) -> dict[str, jax.Array]:
    keys = jax.random.split(jax.random.key(seed))
    return {
        "u": 0.3 * jax.random.normal(keys[0], (LENGTH, VALUES)),
        "A": 0.5 * jax.random.normal(keys[1], (size,)),
    }


def build(p: dict[str, jax.Array], epsilon: float) -> Chain:
    model = PairModel(p["A"])
    return doeblin(
        Gibbs(model, VALUES, conditional=model.conditional), IndependentSites(p["u"]), epsilon
    )


def estimators(num_walks: int, epsilon: float) -> dict[str, AbstractEstimator]:
    fixed, walks = FixedHorizon(epsilon), {"num_walks": num_walks}
    steps = max(2, round(3 / epsilon))
    return {
        "forward, geometric": Forward(Geometric(epsilon), **walks),
        "forward": Forward(fixed, **walks),
        "reversal": Reversal(fixed, **walks),
        "bidirectional": Bidirectional(fixed, **walks),
        "reward": Reward(edit_distance_reward(), fixed, **walks),
        "contrastive": Contrastive(num_steps=steps, **walks),
        "u-Gibbs": ApproximateGibbs(steps, log_reward=edit_distance_reward(), **walks),
    }


def training_step(
    estimator: AbstractEstimator, options: dict[str, Any]
) -> Callable[[int], tuple[float, float, Any]]:
    """Seconds, transitions and gradient of one training step, as a function of a seed; compiled."""
    solver = optax.adagrad(0.1)
    first = parameters(options["parameters"])
    chain = build(first, options["epsilon"])
    data = chain.draw(jax.random.key(5), options["batch"]).state

    @jax.jit
    def step(p: Any, state: Any, key: jax.Array) -> Any:
        def loss(p: Any) -> tuple[jax.Array, jax.Array]:
            chain = build(p, options["epsilon"])
            keys = jax.random.split(key, options["batch"])
            found = jax.vmap(lambda key, y: estimator(key, chain, y))(keys, data)
            return -found.log_likelihood.mean(), found.transitions.sum()

        slope, transitions = jax.grad(loss, has_aux=True)(p)
        updates, state = solver.update(slope, state)
        return optax.apply_updates(p, updates), state, transitions, slope

    state = solver.init(first)
    jax.block_until_ready(step(first, state, jax.random.key(0)))

    def timed(seed: int) -> tuple[float, float, Any]:
        began = time.perf_counter()
        _, _, transitions, slope = jax.block_until_ready(step(first, state, jax.random.key(seed)))
        return time.perf_counter() - began, float(transitions), slope

    return timed


def seconds_per_step(estimator: AbstractEstimator, options: dict[str, Any]) -> float:
    timed, times = training_step(estimator, options), []
    while sum(times) < SECONDS or len(times) < 3:
        times.append(timed(len(times) + 1)[0])
    return float(np.median(times))


def measured(estimator: AbstractEstimator) -> dict[str, float]:
    """Speed, and the relative variance of a step's gradient times the seconds that it takes."""
    timed = training_step(estimator, DEFAULT)
    rows = [timed(seed) for seed in range(1, SEEDS + 1)]
    seconds = float(np.median([row[0] for row in rows]))
    transitions = float(np.mean([row[1] for row in rows]))
    slopes = np.array([ravel_pytree(row[2])[0] for row in rows], dtype=np.float64)
    variance = slopes.var(axis=0, ddof=1).sum()
    # The squared norm of the mean, less what noise adds to it.
    signal = (slopes.mean(axis=0) ** 2).sum() - variance / len(slopes)
    relative = float(variance / max(signal, 1e-12))
    return {
        "seconds_per_step": seconds,
        "transitions_per_step": transitions,
        "transitions_per_second": transitions / seconds,
        "relative_variance": relative,
        "variance_times_seconds": relative * seconds,
    }


def plot(growth: dict[str, dict[str, list[float]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(growth), figsize=(4 * len(growth), 3.2))
    for axis, (name, rows) in zip(axes, growth.items(), strict=True):
        axis.loglog(rows["work"], rows["seconds_per_step"], "o-", label="measured")
        axis.set_xlabel({"epsilon": "1/ε"}.get(name, name.replace("_", " ")))
        axis.set_ylabel("seconds a step")
        through = np.array(rows["work"]) / rows["work"][-1] * rows["seconds_per_step"][-1]
        axis.loglog(rows["work"], through, ":", color="grey", label="linear")
        axis.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def run() -> dict[str, Any]:
    devices = [str(device) for device in jax.devices()]
    print(f"devices: {', '.join(devices)}", flush=True)
    sides = {}
    for name, estimator in estimators(DEFAULT["num_walks"], DEFAULT["epsilon"]).items():
        row = sides[name] = measured(estimator)
        print(
            f"{name:20s} {row['transitions_per_second']:12.3g} transitions/s  relative variance "
            f"{row['relative_variance']:8.3g}  × seconds {row['variance_times_seconds']:8.3g}",
            flush=True,
        )
    full = {}
    if jax.default_backend() == "gpu":
        for name, estimator in estimators(FULL["num_walks"], FULL["epsilon"]).items():
            timed = training_step(estimator, FULL)
            rows = [timed(seed) for seed in range(1, 6)]
            full[name] = rows[0][1] / float(np.median([row[0] for row in rows]))
            print(f"{name:20s} {full[name]:12.3g} transitions/s, batch {FULL['batch']}", flush=True)
    growth = {}
    for name, (fixed, values) in GROWTH.items():
        rows = []
        for value in values:
            options = {**fixed, name: value}
            estimator = Reversal(FixedHorizon(options["epsilon"]), num_walks=options["num_walks"])
            rows.append(seconds_per_step(estimator, options))
        work = [1 / value if name == "epsilon" else float(value) for value in values]
        slope = float(np.polyfit(np.log(work), np.log(rows), 1)[0])
        growth[name] = {"work": work, "seconds_per_step": rows, "exponent": slope}
        print(f"cost grows with {name} to the power {slope:.2f}", flush=True)
    path = Path(__file__).parent / "results" / "learning-cost.png"
    plot(growth, path)
    return {
        "devices": devices,
        "jax": jax.__version__,
        "model": {"length": LENGTH, "values": VALUES, **DEFAULT},
        "estimators": sides,
        "full_transitions_per_second": full,
        "growth": growth,
        "plot": path.name,
    }
