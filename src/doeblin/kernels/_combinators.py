"""Kernels made of kernels. What the parts give is kept wherever mathematics allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError, UnsupportedError
from .._inversion import categorical
from .._numbers import whole
from ._base import AbstractKernel, Capability
from ._finite import FiniteKernel, check_same_size


def mixture(
    kernels: Sequence[AbstractKernel], weights: Any = None, *, same_target: bool | None = None
) -> AbstractKernel:
    """At each step one of the kernels, at random: A = Σ_i w_i A_i.

    Keeps `log_prob` if all parts have it; keeps the target and the time reversal (so
    reversibility) if all parts have the same target. Finite matrices give a finite matrix.

    Whether the target is the same is seen from the parts' `density()`; `same_target=True` says so
    where that cannot tell. Weights that are traced and no probabilities give NaN.
    """
    parts = _checked(kernels)
    if weights is None:
        weights = np.full(len(parts), 1 / len(parts))
    weights = _checked_weights(weights, len(parts))
    finite = [part for part in parts if isinstance(part, FiniteKernel)]
    if len(finite) == len(parts):
        check_same_size(finite)
        return FiniteKernel(
            jnp.log(sum(w * k.matrix for w, k in zip(weights, finite, strict=True)))
        )
    return Mixture(tuple(parts), jnp.log(weights), _checked_target(parts, same_target))


def _checked_weights(weights: Any, count: int) -> Float[Array, " kernels"]:
    # In numpy: inside `jit`, where kernels are built for learning, jnp would trace the check.
    xp = jnp if isinstance(weights, Tracer) else np
    weights = xp.asarray(weights, dtype=jnp.result_type(float))
    if weights.shape != (count,):
        raise InputError(f"{count} kernels need {count} weights, got shape {weights.shape}")
    is_law = xp.all(weights >= 0) & (xp.abs(weights.sum() - 1) <= 1e-5)
    if xp is np and not is_law:
        raise InputError(f"weights {weights.tolist()} must be probabilities that sum to one")
    return jnp.where(is_law, weights, jnp.nan)


def cycle(kernels: Sequence[AbstractKernel], *, same_target: bool | None = None) -> AbstractKernel:
    """All kernels in turn, the first one first, as one step.

    Keeps the target if all parts have the same one. Its time reversal is the cycle of the reversed
    parts in reversed order, so a cycle is not reversible in general, nor is its `log_prob` (a sum
    over all states in between) available, except for finite matrices. `same_target` is as for
    [`mixture`][doeblin.kernels.mixture].
    """
    parts = _checked(kernels)
    if len(parts) == 1:
        return parts[0]
    finite = [part for part in parts if isinstance(part, FiniteKernel)]
    if len(finite) == len(parts):
        check_same_size(finite)
        product = finite[0].matrix
        for kernel in finite[1:]:
            product = jnp.matmul(product, kernel.matrix, precision="highest")
        return FiniteKernel(jnp.log(product))
    return Cycle(tuple(parts), _checked_target(parts, same_target))


def repeat(kernel: AbstractKernel, times: int) -> AbstractKernel:
    """The same kernel several times as one step. Keeps the target and the time reversal."""
    times = whole("times", times, least=1)
    if times == 1:
        return kernel
    if isinstance(kernel, FiniteKernel):
        with jax.default_matmul_precision("highest"):
            return FiniteKernel(jnp.log(jnp.linalg.matrix_power(kernel.matrix, times)))
    return Repeat(kernel, times)


class Mixture(AbstractKernel):
    kernels: tuple[AbstractKernel, ...]
    log_weights: Float[Array, " kernels"]
    same_target: bool = eqx.field(static=True)

    def supports(self, capability: Capability) -> bool:
        if capability == "log_prob":
            return all(kernel.supports(capability) for kernel in self.kernels)
        return _supports(capability, self.kernels, self.same_target)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        choice_key, step_key = jax.random.split(key)
        choice = categorical(choice_key, self.log_weights)
        return _picked(choice, [kernel.sample(step_key, state, x) for kernel in self.kernels])

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        choice_key, step_key = jax.random.split(key)
        choice = categorical(choice_key, self.log_weights)
        steps = [kernel.sample_scored(step_key, state, x) for kernel in self.kernels]
        new, log_prob = _picked(choice, steps)
        return new, log_prob + jax.nn.log_softmax(self.log_weights)[choice]

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        _demand("log_prob", "a mixture", self.kernels)
        return self._mixed([kernel.log_prob(new, old, x) for kernel in self.kernels])

    def log_move(self, new: State, old: State, x: Input = None) -> Scalar:
        _demand("log_prob", "a mixture", self.kernels)
        return self._mixed([kernel.log_move(new, old, x) for kernel in self.kernels])

    def _mixed(self, log_probs: list[Scalar]) -> Scalar:
        return jax.nn.logsumexp(jnp.stack(log_probs) + jax.nn.log_softmax(self.log_weights))

    def log_target(self, state: State, x: Input = None) -> Scalar:
        _demand("log_target", "a mixture", self.kernels, self.same_target)
        return self.kernels[0].log_target(state, x)

    def density(self) -> Any:
        return self.kernels[0].density() if self.same_target else self

    def reverse(self) -> Mixture:
        _demand("reverse", "a mixture", self.kernels, self.same_target)
        reversed_parts = tuple(kernel.reverse() for kernel in self.kernels)
        return Mixture(reversed_parts, self.log_weights, True)


class Cycle(AbstractKernel):
    kernels: tuple[AbstractKernel, ...]
    same_target: bool = eqx.field(static=True)

    def supports(self, capability: Capability) -> bool:
        return _supports(capability, self.kernels, self.same_target)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        for kernel, step_key in zip(
            self.kernels, jax.random.split(key, len(self.kernels)), strict=True
        ):
            state = kernel.sample(step_key, state, x)
        return state

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        total = jnp.array(0.0)
        for kernel, step_key in zip(
            self.kernels, jax.random.split(key, len(self.kernels)), strict=True
        ):
            state, log_prob = kernel.sample_scored(step_key, state, x)
            total += log_prob
        return state, total

    def log_target(self, state: State, x: Input = None) -> Scalar:
        _demand("log_target", "a cycle", self.kernels, self.same_target)
        return self.kernels[0].log_target(state, x)

    def density(self) -> Any:
        return self.kernels[0].density() if self.same_target else self

    def reverse(self) -> Cycle:
        _demand("reverse", "a cycle", self.kernels, self.same_target)
        return Cycle(tuple(kernel.reverse() for kernel in reversed(self.kernels)), True)


class Repeat(AbstractKernel):
    kernel: AbstractKernel
    times: int = eqx.field(static=True)

    def supports(self, capability: Capability) -> bool:
        return _supports(capability, (self.kernel,), True)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.kernel.sample_many(jax.random.split(key, self.times), state, x)

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        def step(state: State, key: RandomKey) -> tuple[State, Scalar]:
            return self.kernel.sample_scored(key, state, x)

        state, log_probs = jax.lax.scan(step, state, jax.random.split(key, self.times))
        return state, log_probs.sum()

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.kernel.log_target(state, x)

    def density(self) -> Any:
        return self.kernel.density()

    def reverse(self) -> Repeat:
        return Repeat(self.kernel.reverse(), self.times)


def _picked(choice: Array, results: list[Any]) -> Any:
    """One of several results. Chains run side by side, where a `lax.switch` would evaluate every
    branch too, and for that give each chain its own copy of all parameters."""
    found = results[0]
    for number, result in enumerate(results[1:], start=1):
        here = choice == number
        found = jax.tree.map(lambda new, old, here=here: jnp.where(here, new, old), result, found)
    return found


def _checked(kernels: Sequence[AbstractKernel]) -> list[AbstractKernel]:
    parts = list(kernels)
    if not parts:
        raise InputError("there must be at least one kernel to combine")
    for part in parts:
        if not isinstance(part, AbstractKernel):
            raise InputError(
                f"{part!r} is not a kernel; wrap a function with FunctionKernel, a restart with "
                "Independent"
            )
    return parts


def _supports(
    capability: Capability, kernels: tuple[AbstractKernel, ...], same_target: bool
) -> bool:
    everywhere = all(kernel.supports(capability) for kernel in kernels)
    if capability in ("log_target", "reverse"):
        return same_target and everywhere
    return capability == "sample_scored" and everywhere


def _demand(
    capability: Capability, what: str, kernels: tuple[AbstractKernel, ...], same_target: bool = True
) -> None:
    for i, kernel in enumerate(kernels):
        if not kernel.supports(capability):
            raise UnsupportedError(
                f"{what} has `{capability}` only if all parts have; part {i}, "
                f"{type(kernel).__name__}, has not"
            )
    if not same_target:
        raise UnsupportedError(
            f"{what} has `{capability}` only if all parts leave the same density invariant; build "
            "them on one log-density object that their `density()` returns, or say "
            "same_target=True"
        )


def _checked_target(kernels: Sequence[AbstractKernel], same_target: bool | None) -> bool:
    """Whether all kernels have one target: as far as their densities show, or as the user says."""
    if same_target:
        _demand("log_target", "same_target=True: a combination", tuple(kernels))
    if same_target is not None:
        return same_target
    densities = [kernel.density() for kernel in kernels if kernel.supports("log_target")]
    return len(densities) == len(kernels) and all(
        _same_tree(densities[0], density) for density in densities[1:]
    )


def _same_tree(a: Any, b: Any) -> bool:
    if a is b:
        return True
    leaves_a, structure_a = jax.tree.flatten(a)
    leaves_b, structure_b = jax.tree.flatten(b)
    if structure_a != structure_b:
        return False
    return all(_same_leaf(p, q) for p, q in zip(leaves_a, leaves_b, strict=True))


def _same_leaf(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Tracer) or isinstance(b, Tracer):
        return False
    return bool(eqx.is_array_like(a) and eqx.is_array_like(b) and np.array_equal(a, b))
