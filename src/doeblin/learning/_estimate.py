"""What an estimator gives back."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._custom_types import Input, RandomKey, Scalar
from .._states import one_number
from ..chains import Chain


class PathEstimate(eqx.Module):
    """An estimate from weighted paths. Differentiate `log_likelihood` to get the gradient's.

    The value of `log_likelihood` is the log of a mean of unbiased weights: on average below the
    true log-likelihood (Jensen), and above it only by chance: a stochastic lower bound. It lies
    below by about `standard_error`²/2. Its gradient is the self-normalised estimate g/Z of
    Algorithm 1, consistent as the number of walks grows; or, with `normalise="others"`, one whose
    mean has the true direction for any number of walks (see `Normalise`).
    """

    log_likelihood: Scalar
    log_walk_weights: Float[Array, " walks"]
    """log of each walk's own unbiased estimate of the likelihood."""
    transitions: Scalar
    """Steps of the kernels that the estimate cost."""
    stage_counts: Float[Array, "stages stages"]
    """Expected number of moves from stage to stage on the path to the data, given the data."""

    @property
    def is_lower_bound(self) -> bool:
        return True

    @property
    def standard_error(self) -> Scalar:
        """Of `log_likelihood`, by the delta method over independent walks."""
        relative = self._relative_weights
        num_walks = relative.shape[0]
        spread = jnp.sqrt(jnp.sum((relative - 1) ** 2) / max(num_walks - 1, 1))
        # If no walk weighs anything, nothing is known.
        return jnp.where(relative.sum() == 0, jnp.inf, spread / jnp.sqrt(num_walks))

    @property
    def effective_walks(self) -> Scalar:
        """(Σ w)²/Σ w² over walks: how many of them carry the estimate."""
        relative = self._relative_weights
        return relative.sum() ** 2 / jnp.maximum((relative**2).sum(), 1e-30)

    @property
    def expected_steps(self) -> Scalar:
        """E[T | data]: expected steps from the restart to the data."""
        return self.stage_counts.sum()

    @property
    def _relative_weights(self) -> Float[Array, " walks"]:
        """Weights divided by their mean; zero if all are."""
        relative = jnp.exp(jax.nn.log_softmax(self.log_walk_weights)) * len(self.log_walk_weights)
        return jnp.where(jnp.isneginf(self.log_walk_weights).all(), 0, relative)


class AbstractEstimator(eqx.Module):
    """Estimates log π̃(y | x), or what stands for it, and its gradient.

    Works under `jit`, `vmap` and `grad`: the gradient reaches everything that the chain *and the
    input* are made of.

        def loss(parameters):
            chain = doeblin(kernel(parameters), restart(parameters), epsilon(parameters))
            return -estimator(key, chain, y, x).log_likelihood

        jax.grad(loss)(parameters)
    """

    @abc.abstractmethod
    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        """The estimate for one datum `y` given one input `x`."""


class RestartLikelihood(AbstractEstimator):
    """log u(y | x), exactly: to train the restart alone, before the chain is.

    With latent states, `proposal.log_marginal((x, y))` gives it.
    """

    proposal: Any = None

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        if self.proposal is None:
            log_prob = chain.restart.log_prob(y, x)
        else:
            log_prob = self.proposal.log_marginal((x, y))
        log_prob = one_number(log_prob, "log_prob of a restart")
        stages = chain.stage_matrix.shape[0]
        one_walk = jax.lax.stop_gradient(log_prob)[None]
        return PathEstimate(log_prob, one_walk, jnp.array(0.0), jnp.zeros((stages, stages)))


def with_gradient_of(value: Scalar, surrogate: Scalar) -> Scalar:
    """`value`, whose gradient is that of `surrogate`."""
    return jax.lax.stop_gradient(value - surrogate) + surrogate
