"""Samplers that know only a log-density, beside BlackJAX and NumPyro: speed, and honest errors.

Two questions about a periodic Ising model. How many single-site moves a second? And, where the
model has two modes and single-site moves hardly go from one to the other, how often does a 95 %
interval hold the truth, and how often do the usual diagnostics say that it may not?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from blackjax.diagnostics import effective_sample_size, potential_scale_reduction
from numpyro.infer.gibbs import DiscreteGibbs

import doeblin
from doeblin.kernels import Gibbs, IndependentSites, Metropolis, Potts, UniformChange, repeat

from ._timing import compare

CHAINS = 16
STEPS = 2048


def run() -> dict[str, Any]:
    return {
        "devices": [str(device) for device in jax.devices()],
        "moves": _moves(side=16),
        "errors": _errors(side=6, coupling=1.3, repetitions=200, steps=64_000),
    }


def _moves(side: int) -> dict[str, Any]:
    """Moves a second when nothing is known but the log-density."""
    model = Potts((side, side), num_values=2, coupling=0.6)
    start = jax.random.randint(jax.random.key(1), (CHAINS, side, side), 0, 2)
    metropolis = repeat(Metropolis(model, UniformChange(2)), STEPS)
    gibbs = repeat(Gibbs(model, num_values=2), STEPS)
    moves = {
        "doeblin Metropolis": STEPS,
        "blackjax rmh": STEPS,
        "doeblin Gibbs": STEPS,
        "numpyro DiscreteGibbs": STEPS // side**2 * side**2,
    }
    seconds = compare(
        {
            "doeblin Metropolis": _batched(metropolis.sample, start),
            "blackjax rmh": _batched(_blackjax(model), start),
            "doeblin Gibbs": _batched(gibbs.sample, start),
            "numpyro DiscreteGibbs": _numpyro(model, start, STEPS // side**2),
        }
    )
    rates = {name: CHAINS * moves[name] / seconds[name] for name in moves}
    for name, rate in rates.items():
        print(f"  {name}: {rate:,.0f} single-site moves/s", flush=True)
    return {
        "moves_per_second": rates,
        "metropolis_over_blackjax": rates["doeblin Metropolis"] / rates["blackjax rmh"],
        "gibbs_over_numpyro": rates["doeblin Gibbs"] / rates["numpyro DiscreteGibbs"],
    }


def _batched(step: Callable[..., Any], start: Any) -> Callable[[Any], Any]:
    return jax.jit(lambda key: jax.vmap(step)(jax.random.split(key, len(start)), start))


def _blackjax(model: Potts) -> Callable[..., Any]:
    def flip(key: Any, state: Any) -> Any:
        site = jax.random.randint(key, (), 0, state.size)
        flat = state.ravel()
        return flat.at[site].set(1 - flat[site]).reshape(state.shape)

    sampler = blackjax.rmh(model, flip)

    def walk(key: Any, start: Any) -> Any:
        def step(state: Any, key: Any) -> tuple[Any, None]:
            return sampler.step(key, state)[0], None

        keys = jax.random.split(key, STEPS)
        return jax.lax.scan(step, sampler.init(start), keys)[0].position  # pyright: ignore[reportCallIssue]

    return walk


def _numpyro(model: Potts, start: Any, sweeps: int) -> Callable[[Any], Any]:
    side = start.shape[-1]

    def spins() -> None:
        with numpyro.plate("sites", side**2):
            state = numpyro.sample("state", dist.Bernoulli(0.5))
        numpyro.factor("energy", model(state.reshape(side, side)))

    kernel = DiscreteGibbs(spins)
    first = kernel.init(jax.random.key(0), 0, None, (), {})

    def walk(key: Any, position: Any) -> Any:
        energy = kernel.get_potential_fn()({"state": position})
        state = first._replace(z={"state": position}, potential_energy=energy, rng_key=key)
        return jax.lax.fori_loop(0, sweeps, lambda _, s: kernel.sample(s, (), {}), state).z

    return _batched(walk, start.reshape(CHAINS, -1))


def _errors(side: int, coupling: float, repetitions: int, steps: int) -> dict[str, Any]:
    """Share of time mostly up, ½ by symmetry: four chains of a peer, or tours of as many steps."""
    model = Potts((side, side), num_values=2, coupling=coupling)
    restart = IndependentSites.uniform((side, side), num_values=2)
    gibbs = model.gibbs()
    chain = doeblin.doeblin(gibbs, restart, epsilon=1 / 500)

    def mostly_up(state: Any) -> Any:
        return (jnp.sign(state.mean(axis=(-2, -1)) - 0.5) + 1) / 2

    def ours(key: Any) -> tuple[float, float]:
        estimate = chain.estimate(key, mostly_up, num_tours=steps // 500)
        return estimate.interval(0.95)

    @jax.jit
    def usual(key: Any) -> tuple[Any, Any, Any]:
        start_key, walk_key = jax.random.split(key)
        starts = jax.vmap(restart.sample)(jax.random.split(start_key, 4))

        def walk(key: Any, start: Any) -> Any:
            def step(state: Any, key: Any) -> tuple[Any, Any]:
                state = gibbs.sample(key, state)
                return state, mostly_up(state)

            return jax.lax.scan(step, start, jax.random.split(key, steps // 4))[1]

        kept = jax.vmap(walk)(jax.random.split(walk_key, 4), starts)[:, steps // 8 :]
        error = kept.std() / jnp.sqrt(effective_sample_size(kept))
        return kept.mean(), error, potential_scale_reduction(kept)

    rows: dict[str, list[bool]] = {"ours": [], "usual": [], "flagged": [], "usual_unflagged": []}
    for key in jax.random.split(jax.random.key(2), repetitions):
        low, high = ours(key)
        rows["ours"].append(bool(low <= 0.5 <= high))
        mean, error, rhat = (float(value) for value in usual(key))
        # Chains that never move have no spread: R-hat is then not a number, or infinite.
        held = abs(mean - 0.5) <= 1.96 * error
        flagged = not rhat <= 1.01
        rows["usual"].append(held)
        rows["flagged"].append(flagged)
        if not flagged:
            rows["usual_unflagged"].append(held)
    shares = {name: float(np.mean(held)) if held else None for name, held in rows.items()}
    print(f"  share of 95 % intervals that hold the truth: {shares}", flush=True)
    return {"repetitions": repetitions, "steps": steps, "share": shares}
