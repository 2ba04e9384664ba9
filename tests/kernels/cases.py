"""One small, enumerable case for every public kernel and restart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from doeblin.kernels import (
    AbstractKernel,
    AbstractRestart,
    BlockKernel,
    ColouredGibbs,
    ColouredSweep,
    FiniteKernel,
    FiniteRestart,
    FunctionKernel,
    FunctionRestart,
    Gibbs,
    GibbsSweep,
    Independent,
    IndependentSites,
    Metropolis,
    Potts,
    PrefixOrSuffix,
    RandomSites,
    UniformChange,
    cycle,
    locally_balanced,
    mixture,
    repeat,
)


class Loop(eqx.Module):
    """Three sites of three values around a loop, with an input that tilts the values."""

    weights: Float[Array, "3 3 3"]

    def __call__(self, state: Array, x: Array | None = None) -> Array:
        pairs = self.weights[jnp.arange(3), state, jnp.roll(state, 1)].sum()
        return pairs + (0.0 if x is None else x[state].sum())

    def relaxed(self, weights: Array, x: Array | None = None) -> Array:
        neighbours = jnp.roll(weights, 1, axis=0)
        pairs = jnp.einsum("ia,iab,ib->", weights, self.weights, neighbours)
        return pairs + (0.0 if x is None else (weights @ x).sum())

    def conditional(self, state: Array, site: Array, x: Array | None = None) -> Array:
        own = self.weights[site, :, state[site - 1]]
        following = self.weights[(site + 1) % 3, state[(site + 1) % 3], :]
        return own + following + (0.0 if x is None else x)


class Mixed(eqx.Module):
    """Sites of different numbers of values inside a state that holds more than sites."""

    table: Float[Array, "2 3"]

    def __call__(self, state: dict[str, Array], x: Any = None) -> Array:
        return self.table[state["sites"][0], state["sites"][1]] * (1 + state["rest"])


_rng = np.random.default_rng(7)
LOOP = Loop(jnp.asarray(_rng.normal(size=(3, 3, 3))))
MIXED = Mixed(jnp.asarray(_rng.normal(size=(2, 3))))
TILT = jnp.array([0.3, -0.2, 0.1])
POTTS = Potts((2, 3), num_values=2, coupling=0.7, field=[0.0, 0.4], periodic=False)
HALVED = Potts((2, 4), num_values=2, coupling=0.7, field=[0.0, 0.4], periodic=False)

SITE_STATES = jnp.array(list(itertools.product(range(3), repeat=3)))
GRID_STATES = jnp.array(list(itertools.product(range(2), repeat=6))).reshape(-1, 2, 3)
HALVED_STATES = jnp.array(list(itertools.product(range(2), repeat=8))).reshape(-1, 2, 4)
MIXED_STATES = {
    "sites": jnp.array(list(itertools.product(range(2), range(3)))),
    "rest": jnp.full(6, 0.5),
}
FINITE_STATES = jnp.arange(4)

_matrix = _rng.gamma(0.7, size=(4, 4))
MATRIX = _matrix / _matrix.sum(axis=1, keepdims=True)
SITES = IndependentSites(jnp.asarray(_rng.normal(size=(3, 3))))


@dataclass(frozen=True)
class KernelCase:
    kernel: AbstractKernel
    states: Any
    """All states, stacked."""
    x: Any = None
    reversible: bool = True
    exact: bool = True
    """Whether `log_prob` is expected."""
    targeted: bool = True
    """Whether `log_target` is expected."""


@dataclass(frozen=True)
class RestartCase:
    restart: AbstractRestart
    states: Any
    x: Any = None
    blocks: tuple[Any, ...] = ()


def _mixed(kernel: Any, **options: Any) -> AbstractKernel:
    return kernel(MIXED, [2, 3], where=lambda state: state["sites"], **options)


_gibbs = Gibbs(LOOP, 3)
_flip = Metropolis(LOOP, UniformChange(3))
_checkerboard = POTTS.checkerboard()
_block = BlockKernel(SITES, LOOP, num_proposals=3, choose_block=RandomSites((3,)))

KERNELS: dict[str, KernelCase] = {
    "Gibbs": KernelCase(_gibbs, SITE_STATES, x=TILT),
    "Gibbs, local": KernelCase(Gibbs(LOOP, 3, conditional=LOOP.conditional), SITE_STATES, x=TILT),
    "Gibbs, mixed sites": KernelCase(_mixed(Gibbs), MIXED_STATES),
    "Gibbs, grid": KernelCase(POTTS.gibbs(), GRID_STATES),
    "GibbsSweep": KernelCase(GibbsSweep(_gibbs), SITE_STATES, x=TILT, reversible=False),
    "GibbsSweep, backward": KernelCase(
        GibbsSweep(_gibbs, "backward"), SITE_STATES, reversible=False
    ),
    "ColouredGibbs": KernelCase(_checkerboard, GRID_STATES),
    "ColouredSweep": KernelCase(ColouredSweep(_checkerboard), GRID_STATES, reversible=False),
    "ColouredSweep, in halves": KernelCase(
        ColouredSweep(HALVED.checkerboard(halves=True)), HALVED_STATES, reversible=False
    ),
    "ColouredGibbs, three colours": KernelCase(
        ColouredGibbs(
            LOOP,
            lambda s, x: jax.vmap(LOOP.conditional, in_axes=(None, 0, None))(s, jnp.arange(3), x),
            [0, 1, 2],
            3,
        ),
        SITE_STATES,
    ),
    "Metropolis": KernelCase(_flip, SITE_STATES, x=TILT),
    "Metropolis, mixed sites": KernelCase(
        Metropolis(MIXED, UniformChange([2, 3], where=lambda state: state["sites"])), MIXED_STATES
    ),
    "Metropolis, independence": KernelCase(
        Metropolis(LOOP, Independent(SITES)), SITE_STATES, exact=False
    ),
    "UniformChange": KernelCase(UniformChange(3), SITE_STATES),
    "BalancedProposal": KernelCase(locally_balanced(LOOP, 3).proposal, SITE_STATES, targeted=False),
    "locally_balanced": KernelCase(locally_balanced(LOOP, 3), SITE_STATES, x=TILT),
    "locally_balanced, gradient": KernelCase(
        locally_balanced(LOOP, 3, relaxed=LOOP.relaxed, balance=lambda r: r / 2),
        SITE_STATES,
        x=TILT,
    ),
    "locally_balanced, mixed sites": KernelCase(_mixed(locally_balanced), MIXED_STATES),
    "BlockKernel": KernelCase(_block, SITE_STATES, exact=False),
    "BlockKernel, prefix or suffix": KernelCase(
        BlockKernel(SITES, LOOP, num_proposals=2, choose_block=PrefixOrSuffix(3)),
        SITE_STATES,
        exact=False,
    ),
    "BlockKernel, whole state": KernelCase(
        BlockKernel(SITES, LOOP, num_proposals=4), SITE_STATES, exact=False
    ),
    "FiniteKernel": KernelCase(FiniteKernel.from_matrix(MATRIX), FINITE_STATES, reversible=False),
    "FunctionKernel": KernelCase(
        FunctionKernel(
            lambda key, state, x: (state + jax.random.bernoulli(key, 0.3)) % 4,
            lambda new, old, x: jnp.log(
                jnp.where(new == old, 0.7, jnp.where(new == (old + 1) % 4, 0.3, 0.0))
            ),
        ),
        FINITE_STATES,
        targeted=False,
    ),
    "Independent": KernelCase(Independent(SITES), SITE_STATES),
    "mixture": KernelCase(mixture([_gibbs, _flip], [0.3, 0.7]), SITE_STATES),
    "mixture, inexact": KernelCase(mixture([_gibbs, _block]), SITE_STATES, exact=False),
    "mixture, finite": KernelCase(
        mixture([FiniteKernel.from_matrix(MATRIX), FiniteKernel.from_matrix(MATRIX @ MATRIX)]),
        FINITE_STATES,
        reversible=False,
    ),
    "cycle": KernelCase(cycle([_gibbs, _flip]), SITE_STATES, exact=False, reversible=False),
    "cycle, finite": KernelCase(
        cycle([FiniteKernel.from_matrix(MATRIX), FiniteKernel.from_matrix(MATRIX @ MATRIX)]),
        FINITE_STATES,
        reversible=False,
    ),
    "repeat": KernelCase(repeat(_gibbs, 3), SITE_STATES, exact=False),
    "repeat, finite": KernelCase(
        repeat(FiniteKernel.from_matrix(MATRIX), 3), FINITE_STATES, reversible=False
    ),
}

RESTARTS: dict[str, RestartCase] = {
    "IndependentSites": RestartCase(
        SITES,
        SITE_STATES,
        blocks=(jnp.array([True, False, True]), jnp.array([False, False, False])),
    ),
    "FiniteRestart": RestartCase(FiniteRestart.from_law([0.1, 0.2, 0.7, 0.0]), FINITE_STATES),
    "FunctionRestart": RestartCase(
        FunctionRestart(
            lambda key, x: jax.random.categorical(key, x), lambda s, x: jax.nn.log_softmax(x)[s]
        ),
        jnp.arange(3),
        x=TILT,
    ),
}
