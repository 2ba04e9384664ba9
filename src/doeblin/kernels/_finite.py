"""Finite chains given by explicit matrices, as restarts and kernels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Input, RandomKey, Scalar
from .._errors import InputError
from .._solve import solve
from ..finite import checked_law, checked_transitions
from ._base import AbstractKernel, AbstractRestart


class FiniteRestart(AbstractRestart):
    """An explicit law over states 0 … n-1, parametrised by logits.

    >>> round(float(FiniteRestart.from_law([0.25, 0.75]).log_prob(1)), 4)
    -0.2877
    """

    logits: Float[Array, " states"]

    @classmethod
    def from_law(cls, law: Any) -> FiniteRestart:
        """From probabilities that sum to one."""
        with np.errstate(divide="ignore"):
            return cls(jnp.asarray(np.log(checked_law(law))))

    def sample(self, key: RandomKey, x: Input = None) -> Int[Array, ""]:
        return jax.random.categorical(key, self.logits)

    def log_prob(self, state: Int[Array, ""], x: Input = None) -> Scalar:
        return jax.nn.log_softmax(self.logits)[state]


class FiniteKernel(AbstractKernel):
    """An explicit transition matrix over states 0 … n-1, parametrised by logits, row by row.

    Everything a kernel can give is there: the invariant law is solved for, and the time reversal
    follows from it.
    """

    logits: Float[Array, "states states"]

    @classmethod
    def from_matrix(cls, matrix: Any) -> FiniteKernel:
        """From a matrix whose rows sum to one: `matrix[i, j]` is the probability of i → j."""
        with np.errstate(divide="ignore"):
            return cls(jnp.asarray(np.log(checked_transitions(matrix))))

    @property
    def matrix(self) -> Float[Array, "states states"]:
        return jax.nn.softmax(self.logits, axis=-1)

    def sample(self, key: RandomKey, state: Int[Array, ""], x: Input = None) -> Int[Array, ""]:
        return jax.random.categorical(key, self.logits[state])

    def log_prob(self, new: Int[Array, ""], old: Int[Array, ""], x: Input = None) -> Scalar:
        return jax.nn.log_softmax(self.logits[old])[new]

    def law(self) -> Float[Array, " states"]:
        """The invariant law (of the single recurrent class that the matrix must have)."""
        num_states = self.logits.shape[0]
        balance = self.matrix.T - jnp.eye(num_states)
        system = balance.at[0].set(1.0)
        return solve(system, jnp.zeros(num_states).at[0].set(1.0))

    def log_target(self, state: Int[Array, ""], x: Input = None) -> Scalar:
        return jnp.log(self.law()[state])

    def reverse(self) -> FiniteKernel:
        law = self.law()
        return FiniteKernel(jnp.log(self.matrix.T * law) - jnp.log(law)[:, None])

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
