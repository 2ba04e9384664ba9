"""Ready-made restarts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError
from .._inversion import categorical
from .._states import log_prob_of, one_number
from ._base import AbstractKernel, AbstractRestart
from ._sites import check_laws


class IndependentSites(AbstractRestart):
    """Every site drawn on its own: states are integer arrays of shape `logits.shape[:-1]`.

    `logits[..., k]` is the unnormalised log-probability of value k at that site. A block is a
    boolean mask over the sites.

    >>> import jax
    >>> IndependentSites.uniform((2, 3), num_values=4).sample(jax.random.key(0)).shape
    (2, 3)
    """

    logits: Float[Array, "*sites values"]

    def __init__(self, logits: Any):
        self.logits = jnp.asarray(logits, dtype=float)
        if self.logits.ndim < 1 or self.logits.shape[-1] < 1:
            raise InputError(
                f"logits need a last axis with one entry for each value, got shape "
                f"{self.logits.shape}"
            )
        check_laws(self.logits, "logits")

    @classmethod
    def uniform(cls, shape: tuple[int, ...], *, num_values: int) -> IndependentSites:
        """All values of all sites equally likely."""
        return cls(jnp.zeros((*shape, num_values)))

    def sample(self, key: RandomKey, x: Input = None) -> Int[Array, "*sites"]:
        return categorical(key, self.logits)

    def log_prob(self, state: Int[Array, "*sites"], x: Input = None) -> Scalar:
        return log_prob_of(jax.nn.log_softmax(self.logits), state).sum()

    def sample_block(self, key: RandomKey, state: State, block: Any, x: Input = None) -> State:
        return jnp.where(block, self.sample(key, x).astype(state.dtype), state)

    def log_prob_block(self, state: State, block: Any, x: Input = None) -> Scalar:
        chosen = log_prob_of(jax.nn.log_softmax(self.logits), state)
        return jnp.where(block, chosen, 0).sum()


class FunctionRestart(AbstractRestart):
    """Any distribution of the user's, as two functions `sample(key, x)` and `log_prob(state, x)`.

    Functions with parameters are Equinox modules, so that the parameters can be learned.
    """

    sample_function: Callable[[RandomKey, Input], State]
    log_prob_function: Callable[[State, Input], Any]

    @classmethod
    def from_distribution(cls, distribution: Any) -> FunctionRestart:
        """From an object with `sample(key)` and `log_prob(value)`, such as NumPyro's."""
        return cls(_Sample(distribution), _LogProb(distribution))

    def sample(self, key: RandomKey, x: Input = None) -> State:
        return self.sample_function(key, x)

    def log_prob(self, state: State, x: Input = None) -> Scalar:
        return one_number(self.log_prob_function(state, x), "log_prob of a restart")


class _Sample(eqx.Module):
    distribution: Any

    def __call__(self, key: RandomKey, x: Input) -> State:
        try:
            return self.distribution.sample(key)
        except TypeError:  # Distrax and TensorFlow Probability name the argument.
            return self.distribution.sample(seed=key)


class _LogProb(eqx.Module):
    distribution: Any

    def __call__(self, state: State, x: Input) -> Array:
        # Independent coordinates give one number each.
        return jnp.sum(self.distribution.log_prob(state))


class Independent(AbstractKernel):
    """A restart seen as a kernel that forgets its state: `A(y' | y) = u(y')`.

    It is what a staged chain does in its restart stage, and serves as an independence proposal.
    """

    restart: AbstractRestart

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.restart.sample(key, x)

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        return self.restart.log_prob(new, x)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.restart.log_prob(state, x)

    def density(self) -> AbstractRestart:
        return self.restart

    def reverse(self) -> Independent:
        return self


class FunctionKernel(AbstractKernel):
    """Any kernel of the user's, as functions; only `sample(key, state, x)` is needed."""

    sample_function: Callable[[RandomKey, State, Input], State]
    log_prob_function: Callable[[State, State, Input], Any] | None = None

    def supports(self, capability) -> bool:
        if capability == "log_prob":
            return self.log_prob_function is not None
        return super().supports(capability)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.sample_function(key, state, x)

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        if self.log_prob_function is None:
            return super().log_prob(new, old, x)
        return one_number(self.log_prob_function(new, old, x), "log_prob of a kernel")
