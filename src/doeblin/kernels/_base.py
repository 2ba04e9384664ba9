"""Restarts and kernels: the two parts every chain is made of."""

from __future__ import annotations

import abc
from typing import Any, Literal

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Key

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import UnsupportedError

Capability = Literal[
    "log_prob",
    "log_target",
    "reverse",
    "support",
    "sample_scored",
    "sample_block",
    "log_prob_block",
]


class _Capable(eqx.Module):
    """Some methods are optional, because mathematics does not always give them."""

    def supports(self, capability: Capability) -> bool:
        """Whether the method of that name is there to be called."""
        for cls in type(self).__mro__:
            if capability in vars(cls):
                return not getattr(vars(cls)[capability], "_is_missing", False)
        return False


def _missing(remedy: str):
    """Marks an optional method that a class did not give; calling it says what would help."""

    def mark(method):
        def refuse(self, *args: Any, **kwargs: Any):
            raise UnsupportedError(f"{type(self).__name__} has no `{method.__name__}`: {remedy}")

        refuse.__name__ = method.__name__
        refuse.__doc__ = method.__doc__
        refuse._is_missing = True  # pyright: ignore[reportFunctionMemberAccess]
        return refuse

    return mark


class AbstractRestart(_Capable):
    """A simple, tractable model `u(y | x)` to restart from.

    Give `sample` and `log_prob`; both take one state, so that users may `vmap`.
    """

    @abc.abstractmethod
    def sample(self, key: RandomKey, x: Input = None) -> State:
        """One draw from `u(· | x)`."""

    @abc.abstractmethod
    def log_prob(self, state: State, x: Input = None) -> Scalar:
        """log u(state | x), normalised."""

    @_missing("block kernels need a restart that can redraw a part of the state given the rest")
    def sample_block(self, key: RandomKey, state: State, block: Any, x: Input = None) -> State:
        """Redraw the part of `state` named by `block` from `u`, given the rest of it."""
        ...

    @_missing("learning through block kernels needs the law of a part of the state given the rest")
    def log_prob_block(self, state: State, block: Any, x: Input = None) -> Scalar:
        """Log-probability that `sample_block` gives this very state."""
        ...


class AbstractKernel(_Capable):
    """A Markov kernel `A(y' | y, x)`.

    Only `sample` is required. What else a kernel gives, mathematics permitting:

    - `log_prob(new, old, x)`: the log-probability of a transition;
    - `log_target(state, x)`: an unnormalised log-density that the kernel leaves invariant;
    - `reverse()`: the time reversal with respect to that target (itself, if reversible);
    - `support(state, x)`: the states that a step can reach;
    - `sample_scored(key, state, x)`: a step with the log-probability of its random choices. There
      from the start for kernels with `log_prob`.

    `supports("log_prob")` tells whether a method is there.
    """

    def supports(self, capability: Capability) -> bool:
        if capability == "sample_scored":
            given = next(cls for cls in type(self).__mro__ if capability in vars(cls))
            return given is not AbstractKernel or self.supports("log_prob")
        return super().supports(capability)

    @abc.abstractmethod
    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        """One step from `state`."""

    def sample_many(self, keys: Key[Array, " steps"], state: State, x: Input = None) -> State:
        """One step of `sample` for each key, one after the other.

        Kernels override it where many steps together can do what each would otherwise do alone:
        tell at the end that something was wrong, or lay the state out for the way they use it.
        """
        return jax.lax.scan(lambda state, key: (self.sample(key, state, x), None), state, keys)[0]

    @_missing("its transition probabilities are sums that cannot be enumerated")
    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        """log A(new | old, x)."""
        ...

    def log_move(self, new: State, old: State, x: Input = None) -> Scalar:
        """log A(new | old, x) where the two states differ; of equal ones it says nothing.

        Kernels that can stay put in many ways override it: a change often shows how it was made.
        """
        return self.log_prob(new, old, x)

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        """The step that `sample` takes with this key, and the log-probability of its choices.

        The choices may say more than the new state does (which site was redrawn, what else was
        proposed), so that this exists where `log_prob` is an impossible sum, and is often cheaper.
        Learning differentiates it with the choices held fixed: given the two states, the expected
        gradient is that of `log_prob` (Fisher's identity).
        """
        new = jax.lax.stop_gradient(self.sample(key, state, x))
        return new, self.log_prob(new, state, x)

    @_missing("it is not known to leave any density invariant; give it one, or use another kernel")
    def log_target(self, state: State, x: Input = None) -> Scalar:
        """log π̂(state | x), up to a constant that may depend on x alone."""
        ...

    def density(self) -> Any:
        """The object that tells the target: kernels whose densities are the same object, or equal
        trees, are taken to leave the same law invariant when they are combined.

        That is the kernel itself unless overridden. Kernels built on a log-density return it, so
        that different kinds of kernels can be seen to share one.
        """
        return self

    @_missing("its time reversal is unknown; subclass AbstractReversibleKernel if it is its own")
    def reverse(self) -> AbstractKernel:
        """The kernel A* with π(y) A(y' | y) = π(y') A*(y | y')."""
        ...

    @_missing("the states that it can reach cannot be enumerated")
    def support(self, state: State, x: Input = None) -> tuple[State, Bool[Array, " states"]]:
        """States stacked along a new leading axis, and a mask of which of them count.

        Entry 0 is the state itself; among those that count, every state reachable in one step
        occurs once.
        """
        ...


class AbstractReversibleKernel(AbstractKernel):
    """A kernel in detailed balance with its target; its time reversal is itself."""

    @abc.abstractmethod
    def log_target(self, state: State, x: Input = None) -> Scalar:
        """log π̂(state | x), up to a constant that may depend on x alone."""

    def reverse(self) -> AbstractKernel:
        return self
