"""How far walks go: the law F of Algorithm 1, with q(t) = P[T ≥ t]."""

from __future__ import annotations

import abc
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import RandomKey
from .._errors import InputError
from .._numbers import whole
from ..schedules import checked_epsilon

# The largest exponential variate that can be drawn, -log 2^-23 for uniform float32s, rounded up. So
# tapes hold every length that can be drawn: no walk is ever cut short.
_LONGEST = 15.95
# One walk of so many has a tail: a sixth more steps, and its noise shrinks as all others' does.
_WALKS_A_TAIL = 32
# Probability that more walks go on than there are lanes for, at any one narrowing.
_OVERFLOW = 1e-9


class Segment(tuple[int, int]):
    """A stretch of steps, and how many lanes take them side by side."""

    __slots__ = ()

    def __new__(cls, lanes: int, steps: int) -> Segment:
        return super().__new__(cls, (lanes, steps))

    @property
    def lanes(self) -> int:
        return self[0]

    @property
    def steps(self) -> int:
        return self[1]


class AbstractHorizon(eqx.Module):
    """The law of the number T of steps that a walk takes.

    It is the sampler's choice and no part of the model: estimates are unbiased for every chain,
    whatever its ε or stages, to the precision of random numbers: a float32 has 2^23 values, so q(t)
    is met to 2^-23, and Σ ε(1-ε)^t/q(t) over all t that can be drawn to 2e-6. Longer paths than can
    be drawn are missing; they weigh (1-ε)^(15.9/ε_h) of a chain with rate ε, for a horizon of rate
    ε_h: 1e-7 for ε = ε_h. For ε < ε_h/2 the weights have no variance, so choose ε_h ≤ ε.
    """

    @abc.abstractmethod
    def lengths(self, key: RandomKey, num_walks: int) -> Int[Array, " walks"]:
        """T of each walk, the longest first."""

    @abc.abstractmethod
    def log_survival(self, num_walks: int, steps: Array) -> Float[Array, "..."]:
        """log q(t) for t ≥ 1."""

    @abc.abstractmethod
    def common_steps(self) -> int | None:
        """Up to which step all walks follow one law; None if always.

        Beyond, only the first `tails` do, and alike.
        """

    def tails(self, num_walks: int) -> int:
        """How many walks go beyond the common steps: two, where there are as many, so that no walk
        is the only one to know what lies there; or more."""
        return min(num_walks, 2)

    @abc.abstractmethod
    def segments(self, num_walks: int) -> tuple[Segment, ...]:
        """The lanes needed as time goes on, known before any walk is drawn."""


class Geometric(AbstractHorizon):
    """The paper's law: T ~ Geometric(ε) for every walk, so that q(t) = (1-ε)^t.

    Lanes wait for the longest walk; [`FixedHorizon`][doeblin.learning.FixedHorizon] keeps them
    busy.
    """

    epsilon: float = eqx.field(static=True)

    def __init__(self, epsilon: float):
        self.epsilon = _checked_rate(epsilon)

    def lengths(self, key: RandomKey, num_walks: int) -> Int[Array, " walks"]:
        return jnp.sort(_geometric(key, self.epsilon, (num_walks,)), descending=True)

    def log_survival(self, num_walks: int, steps: Array) -> Float[Array, "..."]:
        return steps * math.log1p(-self.epsilon)

    def common_steps(self) -> int | None:
        return None

    def segments(self, num_walks: int) -> tuple[Segment, ...]:
        longest = max(_longest(self.epsilon), 1)
        found, lanes, begin = [], num_walks, 0
        while lanes > 1:
            narrower = max(lanes // 4, 1)
            end = min(self._time_until_fewer(num_walks, narrower), longest)
            if end > begin:
                found.append(Segment(lanes, end - begin))
                begin = end
            lanes = narrower
        return (*found, Segment(1, longest - begin)) if longest > begin else tuple(found)

    def _time_until_fewer(self, num_walks: int, lanes: int) -> int:
        """When more than `lanes` walks are surely no longer going on (Chernoff's bound)."""
        fraction = (lanes + 1) / num_walks  # at most 1
        time = math.ceil(math.log(fraction) / math.log1p(-self.epsilon))
        while True:
            alive = (1 - self.epsilon) ** time
            divergence = fraction * math.log(fraction / alive)
            if fraction < 1:
                divergence += (1 - fraction) * math.log((1 - fraction) / (1 - alive))
            if num_walks * divergence > -math.log(_OVERFLOW):
                return time
            time += 1


class FixedHorizon(AbstractHorizon):
    """All walks take `steps` steps, then one in 32 (two at least) goes on with a geometric tail.

    So q(t) = 1 up to `steps`, then (1-ε)^(t - steps - 1)·m/k with m tails: no lane is ever idle,
    and nothing is cut off. `steps` is 3/ε by default, which leaves e^-3 of the mass to the tails.
    `epsilon` should be the chain's own, or below.
    """

    epsilon: float = eqx.field(static=True)
    steps: int = eqx.field(static=True)

    def __init__(self, epsilon: float, steps: int | None = None):
        self.epsilon = _checked_rate(epsilon)
        default = math.ceil(3 / self.epsilon)
        self.steps = default if steps is None else whole("steps", steps, least=1)

    def tails(self, num_walks: int) -> int:
        return min(num_walks, max(2, num_walks // _WALKS_A_TAIL))

    def lengths(self, key: RandomKey, num_walks: int) -> Int[Array, " walks"]:
        # Walks are alike, so that those that go on may as well be the first.
        tails = 1 + _geometric(key, self.epsilon, (self.tails(num_walks),))
        return self.steps + jnp.zeros(num_walks, jnp.int32).at[: len(tails)].set(tails)

    def log_survival(self, num_walks: int, steps: Array) -> Float[Array, "..."]:
        beyond = steps - self.steps
        share = math.log(self.tails(num_walks) / num_walks)
        tail = (beyond - 1).astype(float) * math.log1p(-self.epsilon) + share
        return jnp.where(beyond > 0, tail, 0.0)

    def common_steps(self) -> int | None:
        return self.steps

    def segments(self, num_walks: int) -> tuple[Segment, ...]:
        tail = Segment(self.tails(num_walks), 1 + _longest(self.epsilon))
        return (Segment(num_walks, self.steps), tail)


def _geometric(key: RandomKey, epsilon: float, shape: tuple[int, ...]) -> Int[Array, "..."]:
    """Geometric(ε) from 0: P[T = j] = ε(1-ε)^j."""
    variates = jax.random.exponential(key, shape, jnp.float32)
    return jnp.floor(variates / -math.log1p(-epsilon)).astype(jnp.int32)


def _longest(epsilon: float) -> int:
    """The largest length that `_geometric` can draw, or a little more."""
    return math.ceil(_LONGEST / -math.log1p(-epsilon))


def checked_horizon(horizon: AbstractHorizon) -> AbstractHorizon:
    if not isinstance(horizon, AbstractHorizon):
        raise InputError(
            f"{horizon!r} is not a horizon; write FixedHorizon(epsilon) or Geometric(epsilon)"
        )
    return horizon


def _checked_rate(epsilon: float) -> float:
    value = checked_epsilon(epsilon)
    if value == 1:
        raise InputError("a horizon with epsilon = 1 never takes a step; choose a smaller one")
    return value
