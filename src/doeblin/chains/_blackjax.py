"""To BlackJAX and back: a chain as a sampling algorithm, a sampling algorithm as a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx

from .._custom_types import Flag, Input, RandomKey, Scalar, State
from .._errors import InputError, MissingExtraError
from ..kernels import AbstractKernel, AbstractReversibleKernel, LogDensity
from ._chain import Chain, Position, beginning


class RestartInfo(NamedTuple):
    """What a step of a chain tells BlackJAX: whether it restarted."""

    restarted: Flag


def to_blackjax(chain: Chain, x: Input = None) -> Any:
    """The chain as a `blackjax.base.SamplingAlgorithm`: `init(position)`, `step(key, state)`.

    The algorithm's state is a [`Position`][doeblin.chains.Position]; `init` begins a tour at the
    given state of the chain.
    """
    try:
        from blackjax.base import SamplingAlgorithm
    except ImportError:
        raise MissingExtraError("blackjax", "interop") from None

    def init(position: State, rng_key: RandomKey | None = None) -> Position:
        return beginning(position, chain.restart_stage)

    def step(rng_key: RandomKey, state: Any) -> tuple[Position, RestartInfo]:
        following = chain.step(rng_key, state, x)
        return following, RestartInfo(following.stage == chain.restart_stage)

    return SamplingAlgorithm(init, step)


def from_blackjax(
    algorithm: Any, log_density: LogDensity | None = None, *, reversible: bool = False
) -> AbstractKernel:
    """Any BlackJAX sampler as a kernel over positions.

    The sampler's own state is rebuilt from the position at each step, so what it carries from step
    to step (a momentum, an adapted step size) does not leak into the chain. Give the log-density
    and `reversible=True` for samplers in detailed balance (HMC, MALA, random walks).
    """
    if reversible and log_density is None:
        raise InputError("reversible=True needs the log_density that the sampler is reversible to")
    if reversible and log_density is not None:
        return _ReversibleSampler(algorithm.init, algorithm.step, log_density)
    return _Sampler(algorithm.init, algorithm.step)


def _move(init: Any, step: Any, key: RandomKey, position: State) -> State:
    return step(key, init(position))[0].position


class _Sampler(AbstractKernel):
    init: Any = eqx.field(static=True)
    step: Any = eqx.field(static=True)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return _move(self.init, self.step, key, state)


class _ReversibleSampler(AbstractReversibleKernel):
    init: Any = eqx.field(static=True)
    step: Any = eqx.field(static=True)
    log_density: LogDensity

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return _move(self.init, self.step, key, state)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.log_density(state, x)

    def density(self) -> LogDensity:
        return self.log_density
