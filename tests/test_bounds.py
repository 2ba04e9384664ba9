"""Where arguments are bounded: the last value that is taken, and the first that is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.chains import doeblin
from doeblin.finite import mahalanobis_bound, three_state_chain
from doeblin.kernels import (
    BlockKernel,
    ColouredGibbs,
    FiniteKernel,
    FiniteRestart,
    Gibbs,
    IndependentSites,
    Potts,
    UniformChange,
    mixture,
    repeat,
)
from doeblin.learning import (
    ApproximateGibbs,
    Contrastive,
    Dataset,
    FixedHorizon,
    Forward,
    Geometric,
    Reversal,
    Reward,
)
from doeblin.schedules import Schedule, certify, gamma

SITES = IndependentSites.uniform((3,), num_values=2)
KERNEL = FiniteKernel.from_matrix([[0.5, 0.5], [0.2, 0.8]])
RESTART = FiniteRestart.from_law([0.5, 0.5])
CHAIN = doeblin(KERNEL, RESTART, 0.5)
CERTIFICATE = certify(Schedule.doeblin(0.3))
HORIZON = FixedHorizon(0.3)


def flat(state: Any, x: Any = None) -> jax.Array:
    return jnp.zeros(())


def grid(shape: tuple[int, ...], periodic: bool = False, num_values: int = 2) -> Potts:
    return Potts(shape, num_values=num_values, coupling=0.1, periodic=periodic)


def two_sites(colours: Any) -> ColouredGibbs:
    return ColouredGibbs(flat, lambda state, x: jnp.zeros((2, 2)), colours, 2)


def redrawn(count: int) -> jax.Array:
    gibbs = Gibbs(flat, 2, conditional=lambda state, site, x: jnp.zeros(count))
    return gibbs.sample(jax.random.key(0), jnp.zeros(3, jnp.int32))


def buckets(lengths: list[int], num_buckets: int = 1) -> Dataset:
    def pad(example: np.ndarray, size: int) -> np.ndarray:
        return np.zeros(size)

    examples = [np.zeros(length) for length in lengths]
    return Dataset(examples, length=len, pad=pad, num_buckets=num_buckets)


BOUNDS: dict[str, tuple[Callable[[Any], Any], list[Any], list[Any]]] = {
    "ε": (Schedule.doeblin, [1, 1e-9], [0, 1 + 1e-9, -0.5, np.nan]),
    "restart stage": (lambda n: Schedule(np.full((2, 2), 0.5), restart=n), [0, 1], [-1, 2]),
    "exit rates": (Schedule.cycle, [[1, 1], [0.5, 1e-9]], [[0.5], [0.5, 0], [1.1, 0.5]]),
    "total variation": (CERTIFICATE.mixing_time, [1e-9, 1 - 1e-9], [0, 1, -1]),
    "γ's steps": (
        lambda ab: gamma(CERTIFICATE.schedule, *ab),
        [(1, 1), (1, 2)],
        [(0, 1), (2, 1)],
    ),
    "δ of the example": (three_state_chain, [0.5, 1e-9], [0, 0.5 + 1e-9]),
    "a law's size": (
        lambda n: mahalanobis_bound(three_state_chain(0.1), np.full(n, 1 / n), 0.5),
        [3],
        [2, 4],
    ),
    "proposals": (lambda n: BlockKernel(SITES, flat, num_proposals=n), [1], [0]),
    "colours": (two_sites, [[0, 0], [0, 1]], [[-1, 0], [], [0.0, 1.0]]),
    "values of a conditional": (redrawn, [2], [1, 3]),
    "repetitions": (lambda n: repeat(KERNEL, n), [1], [0]),
    "weights": (
        lambda w: mixture([KERNEL, KERNEL], w),
        [[0, 1], [0.5, 0.5]],
        [[-0.5, 1.5], [1, 1], [1], [0.4, 0.5]],
    ),
    "sides": (grid, [(1,), (2, 1), (3, 4, 5)], [(), (0,), (2, -1)]),
    "periodic sides": (lambda side: grid((3, side), True), [1, 3], [2]),
    "sides of a periodic checkerboard": (
        lambda side: grid((4, side), True).checkerboard(),
        [1, 4],
        [3],
    ),
    "values of a grid": (lambda n: grid((3,), num_values=n), [2], [1]),
    "values of sites": (UniformChange, [1, 2, [1, 2]], [0, [2, 0], [[2, 2]], 1.5]),
    "sites of a restart": (
        IndependentSites,
        [np.zeros((1, 1)), np.zeros(1)],
        [0.0, np.ones((2, 0))],
    ),
    "states": (FiniteRestart, [np.zeros(1)], [np.zeros(0), np.zeros((1, 1))]),
    "a matrix": (
        FiniteKernel,
        [np.zeros((1, 1))],
        [np.zeros((0, 0)), np.zeros((1, 2)), np.zeros(1)],
    ),
    "steps of a horizon": (lambda n: FixedHorizon(0.3, n), [1], [0]),
    "rate of a horizon": (Geometric, [1e-6, 0.999], [0, 1]),
    "walks of Forward": (lambda n: Forward(HORIZON, n), [1], [0]),
    "walks of Reversal": (lambda n: Reversal(HORIZON, n), [1], [0]),
    "walks of Reward": (lambda n: Reward(lambda y, state, x: 0.0, HORIZON, n), [1], [0]),
    "walks of Contrastive": (lambda n: Contrastive(1, n), [1], [0]),
    "steps of Contrastive": (Contrastive, [1], [0]),
    "steps of approximate Gibbs": (ApproximateGibbs, [2], [1, 0]),
    "buckets": (lambda n: buckets([1, 2], n), [1, 3], [0]),
    "lengths": (buckets, [[1], [3, 1]], [[0], [3, 0]]),
    "draws": (lambda n: CHAIN.draw(jax.random.key(0), n), [1], [0]),
    "lanes": (lambda n: CHAIN.draw(jax.random.key(0), 2, lanes=n), [1], [0]),
    "steps of a run": (lambda n: CHAIN.run(jax.random.key(0), n), [1], [0]),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_last_is_taken_and_the_next_refused(name: str):
    make, taken, refused = BOUNDS[name]
    for value in taken:
        make(value)
    for value in refused:
        with pytest.raises(InputError):
            make(value)
