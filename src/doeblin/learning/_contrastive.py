"""Approximate gradients that others use, for comparison. None of them follows a likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError, UnsupportedError
from .._numbers import whole
from .._random import quick
from ..chains import Chain
from ..kernels import AbstractKernel
from ._data import pair
from ._estimate import AbstractEstimator, PathEstimate, with_gradient_of
from ._prefixes import checked_walks
from ._reward import LogReward
from ._tape import frozen


def _checked_steps(num_steps: int) -> int:
    return whole("num_steps", num_steps, least=1)


class Contrastive(AbstractEstimator):
    """Contrastive divergence: ∇ log π̂(y) - mean ∇ log π̂(ŷ), ŷ after a few steps of A from y.

    It approximates the gradient of A's own stationary likelihood, not π̃'s: restarts do not enter.
    The estimate's `log_likelihood` is NaN, and only its gradient means something. `step` goes on
    from particles that the caller keeps; to train so, give `fit` a
    [`PersistentContrastive`][doeblin.learning.PersistentContrastive].
    """

    num_steps: int = eqx.field(static=True, default=1, converter=_checked_steps)
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        return self.step(key, chain, y, self.begin(y), x)[0]

    def begin(self, y: Any) -> State:
        """Particles that all start at the datum."""
        return jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (self.num_walks, *jnp.shape(leaf))), y
        )

    def step(
        self, key: RandomKey, chain: Chain, y: Any, particles: State, x: Input = None
    ) -> tuple[PathEstimate, State]:
        """The estimate with chains that go on from `particles`, and where they then are."""
        kernel = _only_kernel(chain, "contrastive")
        trails = _trails(quick(key), kernel, particles, self.num_steps, x)
        moved = jax.tree.map(lambda leaf: leaf[:, -1], trails)
        density = jax.vmap(lambda state: kernel.log_target(state, x))
        surrogate = kernel.log_target(y, x) - density(moved).mean()
        return _gradient_only(chain, surrogate, self.num_walks * self.num_steps), moved


@dataclass(frozen=True)
class PersistentContrastive:
    """The objective of persistent contrastive divergence, for `fit`.

    Every example (x, y) has particles of its own, which begin at y and go on from step to step
    while the parameters change; `fit` keeps them, in its checkpoints too. `build(parameters)` makes
    the chain, as in [`likelihood`][doeblin.learning.likelihood].
    """

    estimator: Contrastive
    build: Callable[[Any], Chain] = lambda chain: chain

    def begin(self, example: Any) -> State:
        return self.estimator.begin(pair(example)[1])

    def __call__(
        self, key: RandomKey, parameters: Any, example: Any, particles: State
    ) -> tuple[PathEstimate, State]:
        x, y = pair(example)
        return self.estimator.step(key, self.build(parameters), y, particles, x)


class ApproximateGibbs(AbstractEstimator):
    """The paper's rivals: run A for a fixed number of steps and take its samples at face value.

    The first half of every chain is burn-in. The gradient is the mean of ∇ log π̂ over samples
    weighted by the reward r(y, ŷ), less its plain mean. Without `log_reward`, y itself is the first
    term. Chains start from `start(key, x)`: the restart by default (*u-Gibbs*), or any first guess
    (*basic-Gibbs*). The estimate's `log_likelihood` is NaN.
    """

    num_steps: int = eqx.field(static=True, converter=_checked_steps)
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    log_reward: LogReward | None = None
    start: Callable[[RandomKey, Input], State] | None = None

    def __check_init__(self):
        if self.num_steps < 2:
            raise InputError(
                f"num_steps = {self.num_steps} must be at least 2: the first half is burn-in"
            )

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        kernel = _only_kernel(chain, "approximate Gibbs")
        start_key, walk_key = jax.random.split(quick(key))
        begin = self.start or frozen(chain.restart).sample
        keys = jax.random.split(start_key, self.num_walks)
        start = frozen(jax.vmap(lambda key: begin(key, frozen(x)))(keys))
        trails = _trails(walk_key, kernel, start, self.num_steps, x)
        kept = jax.tree.map(
            lambda leaf: leaf[:, self.num_steps // 2 :].reshape(-1, *leaf.shape[2:]), trails
        )
        densities: Array = jax.vmap(lambda state: kernel.log_target(state, x))(kept)
        if self.log_reward is None:
            first = kernel.log_target(y, x)
        else:
            reward = self.log_reward
            log_rewards = jax.vmap(lambda state: jnp.asarray(reward(y, state, x)))(kept)
            first = jnp.sum(frozen(jax.nn.softmax(log_rewards)) * densities)
        surrogate = first - densities.mean()
        return _gradient_only(chain, surrogate, self.num_walks * self.num_steps)


def _trails(
    key: RandomKey, kernel: AbstractKernel, start: State, num_steps: int, x: Input
) -> State:
    """All states after the first of chains run side by side: axes (chain, step, …)."""
    fixed, given = frozen(kernel), frozen(x)

    def trail(key: RandomKey, state: State) -> State:
        def step(state: State, key: RandomKey) -> tuple[State, State]:
            new = fixed.sample(key, state, given)
            # Data may be of a shorter type than what the kernel draws.
            new = jax.tree.map(lambda leaf, like: leaf.astype(like.dtype), new, state)
            return new, new

        return jax.lax.scan(step, state, jax.random.split(key, num_steps))[1]

    num_walks = jax.tree.leaves(start)[0].shape[0]
    return frozen(jax.vmap(trail)(jax.random.split(key, num_walks), start))


def _only_kernel(chain: Chain, estimator: str) -> AbstractKernel:
    kernels = [kernel for kernel in chain.kernels if kernel is not None]
    if len(kernels) != 1 or not kernels[0].supports("log_target"):
        raise UnsupportedError(
            f"the {estimator} estimator compares log π̂ of one kernel, so it needs a chain with one "
            f"kernel that has `log_target`; this one has {_described(kernels)}"
        )
    return kernels[0]


def _described(kernels: list[AbstractKernel]) -> str:
    if len(kernels) != 1:
        return f"{len(kernels)} kernels"
    return f"{type(kernels[0]).__name__}, which does not say its target"


def _gradient_only(chain: Chain, surrogate: Scalar, transitions: int) -> PathEstimate:
    stages = chain.stage_matrix.shape[0]
    return PathEstimate(
        with_gradient_of(jnp.array(jnp.nan), surrogate),
        jnp.full(1, jnp.nan),
        jnp.array(float(transitions)),
        jnp.zeros((stages, stages)),
    )
