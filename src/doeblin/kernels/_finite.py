"""Finite chains given by explicit matrices, as restarts and kernels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Input, RandomKey, Scalar
from .._elimination import invariant
from .._errors import InputError
from .._inversion import categorical
from .._states import log_prob_of
from ..finite import checked_law, checked_transitions
from ._base import AbstractKernel, AbstractRestart
from ._sites import check_laws


class FiniteRestart(AbstractRestart):
    """An explicit law over states 0 … n-1, parametrised by logits.

    >>> round(float(FiniteRestart.from_law([0.25, 0.75]).log_prob(1)), 4)
    -0.2877
    """

    logits: Float[Array, " states"]

    def __init__(self, logits: Any):
        self.logits = jnp.asarray(logits, dtype=float)
        if self.logits.ndim != 1 or not len(self.logits):
            raise InputError(f"a law needs one logit a state, got shape {self.logits.shape}")
        check_laws(self.logits, "logits")

    @classmethod
    def from_law(cls, law: Any) -> FiniteRestart:
        """From probabilities that sum to one."""
        with np.errstate(divide="ignore"):
            return cls(jnp.asarray(np.log(checked_law(law))))

    def sample(self, key: RandomKey, x: Input = None) -> Int[Array, ""]:
        return categorical(key, self.logits)

    def log_prob(self, state: Int[Array, ""], x: Input = None) -> Scalar:
        return log_prob_of(jax.nn.log_softmax(self.logits), state)


class FiniteKernel(AbstractKernel):
    """An explicit transition matrix over states 0 … n-1, parametrised by logits, row by row.

    Everything a kernel can give is there: the invariant law is solved for, and the time reversal
    follows from it.
    """

    logits: Float[Array, "states states"]

    def __init__(self, logits: Any):
        self.logits = jnp.asarray(logits, dtype=float)
        if self.logits.ndim != 2 or len(set(self.logits.shape)) > 1 or not len(self.logits):
            raise InputError(
                f"a finite kernel needs a square matrix of logits, one row for each state, got "
                f"shape {self.logits.shape}"
            )
        check_laws(self.logits, "row ")

    @classmethod
    def from_matrix(cls, matrix: Any) -> FiniteKernel:
        """From a matrix whose rows sum to one: `matrix[i, j]` is the probability of i → j."""
        with np.errstate(divide="ignore"):
            return cls(jnp.asarray(np.log(checked_transitions(matrix))))

    @property
    def matrix(self) -> Float[Array, "states states"]:
        return jax.nn.softmax(self.logits, axis=-1)

    def sample(self, key: RandomKey, state: Int[Array, ""], x: Input = None) -> Int[Array, ""]:
        return categorical(key, self.logits[state])

    def log_prob(self, new: Int[Array, ""], old: Int[Array, ""], x: Input = None) -> Scalar:
        # From where there is no state the law of a step is not zero, but undefined.
        known = (jnp.asarray(old) >= 0) & (jnp.asarray(old) < self.logits.shape[0])
        row = jnp.where(known, jax.nn.log_softmax(self.logits[old]), jnp.nan)
        return log_prob_of(row, new)

    def law(self) -> Float[Array, " states"]:
        """The invariant law; NaN if there are several, as of a matrix with two closed classes.

        What two moves make together less often than once in 10³⁷ counts as never (in double
        precision 10³⁰⁷), and gradients there may be NaN.
        """
        reach = self._reach()
        # Seen from a state that all others lead to: what the chain leaves for ever has exactly no
        # mass.
        home = jnp.argmax(reach.all(axis=0))
        order = jnp.arange(self.logits.shape[0]).at[0].set(home).at[home].set(0)
        law = invariant(self.matrix[order][:, order])[order]
        return jnp.where(reach[:, home].all(), law, jnp.nan)

    def _reach(self) -> Bool[Array, "states states"]:
        """Whether each state leads to each other one, in any number of steps."""
        num_states = self.logits.shape[0]
        reach = (jax.lax.stop_gradient(self.matrix) > 0) | jnp.eye(num_states, dtype=bool)
        for _ in range(max(num_states - 1, 1).bit_length()):
            ways = reach.astype(jnp.float32)
            reach = jnp.matmul(ways, ways, precision="highest") > 0
        return reach

    def log_target(self, state: Int[Array, ""], x: Input = None) -> Scalar:
        return log_prob_of(_safe_log(self.law()), state)

    def reverse(self) -> FiniteKernel:
        law = self.law()
        back = _safe_log(self.matrix.T * law[None]) - jnp.where(law > 0, _safe_log(law), 0)[:, None]
        # States without mass have no reversal: the kernel stays there.
        stay = jnp.where(jnp.eye(len(law), dtype=bool), 0.0, -jnp.inf)
        return FiniteKernel(jnp.where((law > 0)[:, None], back, stay))

    def support(
        self, state: Int[Array, ""], x: Input = None
    ) -> tuple[Int[Array, " states"], Bool[Array, " states"]]:
        num_states = self.logits.shape[0]
        states = (jnp.asarray(state) + jnp.arange(num_states)) % num_states
        return states, jnp.ones(num_states, dtype=bool)


def check_same_size(kernels: list[FiniteKernel]) -> None:
    sizes = {kernel.logits.shape[0] for kernel in kernels}
    if len(sizes) > 1:
        raise InputError(f"finite kernels of different sizes {sorted(sizes)} cannot be combined")


def _safe_log(values: Array) -> Array:
    """log with gradient zero, not NaN, at zero."""
    positive = values > 0
    return jnp.where(positive, jnp.log(jnp.where(positive, values, 1)), -jnp.inf)
