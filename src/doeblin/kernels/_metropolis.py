"""Metropolis–Hastings with any proposal, and the proposals that come ready-made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError
from .._inversion import categorical, random_words, uniform
from .._states import log_prob_of, one_number, same_state
from ._base import AbstractKernel, AbstractReversibleKernel, Capability
from ._sites import LogDensity, Sites, checked_logits, checked_scalar


class Metropolis(AbstractReversibleKernel):
    """Propose from any kernel, accept with probability min(1, π̂(y')q(y|y') / π̂(y)q(y'|y)).

    The proposal is a kernel with `log_prob`. If it also enumerates its `support`, the probability
    of staying put can be summed up, and this kernel's own `log_prob` is exact.
    """

    log_density: LogDensity
    proposal: AbstractKernel

    def __init__(self, log_density: LogDensity, proposal: AbstractKernel):
        if not proposal.supports("log_prob"):
            raise InputError(
                f"Metropolis needs a proposal with `log_prob`; {type(proposal).__name__} has none"
            )
        self.log_density = log_density
        self.proposal = proposal

    def supports(self, capability: Capability) -> bool:
        if capability in ("log_prob", "support"):
            return self.proposal.supports("support")
        return super().supports(capability)

    def log_accept(self, new: State, old: State, x: Input = None) -> Scalar:
        """Log-probability of accepting `new` when it was proposed from `old`."""
        forward, backward = self.log_target(old, x), self.log_target(new, x)
        if isinstance(self.proposal, AbstractReversibleKernel):
            # Then q(y'|y) / q(y|y') is the ratio of its own target, which is cheaper.
            forward += self.proposal.log_target(new, x)
            backward += self.proposal.log_target(old, x)
        else:
            forward += self.proposal.log_prob(new, old, x)
            backward += self.proposal.log_prob(old, new, x)
        # A state of density zero is always left, and never entered.
        return jnp.where(jnp.isneginf(forward), 0.0, jnp.minimum(backward - forward, 0.0))

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        propose_key, accept_key = jax.random.split(key)
        proposed = self.proposal.sample(propose_key, state, x)
        log_accept = self.log_accept(proposed, state, x)
        return _choose(accept_key, log_accept, proposed, state)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        propose_key, accept_key = jax.random.split(key)
        proposed, log_proposed = self.proposal.sample_scored(propose_key, state, x)
        log_accept = self.log_accept(proposed, state, x)
        new, accepted = _choose(accept_key, log_accept, proposed, state)
        # The logarithm of a rejection is not looked at where it would be that of zero.
        log_reject = jnp.log1p(-jnp.exp(jnp.where(accepted, -1.0, log_accept)))
        return new, log_proposed + jnp.where(accepted, log_accept, log_reject)

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        def log_move(state: State) -> Scalar:
            return self.proposal.log_prob(state, old, x) + self.log_accept(state, old, x)

        def stay() -> Scalar:
            states, counts = self.proposal.support(old, x)
            others = jax.tree.map(lambda leaf: leaf[1:], states)
            log_moves = jnp.where(counts[1:], jax.vmap(log_move)(others), -jnp.inf)
            move = jnp.exp(jax.nn.logsumexp(log_moves))
            # Where every proposal is accepted, the logarithm of zero has no gradient to give.
            can_stay = move < 1
            return jnp.where(can_stay, jnp.log1p(-jnp.where(can_stay, move, 0)), -jnp.inf)

        return jax.lax.cond(same_state(new, old), stay, lambda: log_move(new))

    def log_target(self, state: State, x: Input = None) -> Scalar:
        sites = getattr(self.proposal, "sites", None)
        if isinstance(sites, Sites):
            return sites.log_target(self.log_density, state, x)
        return checked_scalar(self.log_density(state, x))

    def density(self) -> LogDensity:
        return self.log_density

    def support(self, state: State, x: Input = None) -> tuple[State, Bool[Array, " states"]]:
        return self.proposal.support(state, x)


def _choose(
    key: RandomKey, log_accept: Scalar, proposed: State, state: State
) -> tuple[State, Bool[Array, ""]]:
    # A logarithm of at most zero: what is certain is always accepted, what is impossible never.
    accepted = jnp.log(uniform(random_words(key, ()))) <= log_accept
    new = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), proposed, state)
    return jax.lax.stop_gradient(new), accepted


class UniformChange(AbstractReversibleKernel):
    """Proposal: one of all the changes of one site to another of its values, chosen uniformly.

    By itself it leaves the uniform law invariant.
    """

    sites: Sites

    def __init__(self, num_values: int | Any, *, where: Callable[[State], Any] | None = None):
        self.sites = Sites(num_values, where)

    def _changes(self, counts: Int[Array, " sites"]) -> Int[Array, " sites"]:
        """How many changes there are, up to and including those of each site."""
        changes = jnp.cumsum(counts - 1)
        return eqx.error_if(changes, changes[-1] == 0, "every site has one value: nothing changes")

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        values = self.sites.get(state)
        counts = self.sites.counts(len(values))
        changes = self._changes(counts)
        choice = jax.random.randint(key, (), 0, changes[-1])
        site = jnp.searchsorted(changes, choice, side="right", method="compare_all")
        # A site's changes are numbered by how far its value goes up, round the circle.
        value = (values[site] + changes[site] - choice) % counts[site]
        return self.sites.put(state, values.at[site].set(value.astype(values.dtype)))

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        values, before = self.sites.get(new), self.sites.get(old)
        counts = self.sites.counts(len(values))
        allowed = ((values >= 0) & (values < counts)).all() & self.sites.same_rest(new, old)
        one_change = ((values != before).sum() == 1) & allowed
        return jnp.where(one_change, -jnp.log(self._changes(counts)[-1]), -jnp.inf)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return jnp.where(self.sites.contains(state), 0.0, -jnp.inf)

    def support(self, state: State, x: Input = None) -> tuple[State, Bool[Array, " states"]]:
        return self.sites.neighbourhood(state)


class BalancedProposal(AbstractKernel):
    """Proposal: change one site, weighing every change by g(π̂(y')/π̂(y)) with g balanced.

    `log_ratios(state, x)` gives, or approximates, log π̂(y with y_i = k) - log π̂(y) for all sites i
    and values k.
    """

    sites: Sites
    log_ratios: Callable[[State, Input], Float[Array, "sites values"]]
    balance: Callable[[Array], Array]

    def _logits(self, state: State, x: Input) -> Float[Array, "sites values"]:
        return change_logits(self.sites, state, self.balance(self.log_ratios(state, x)))

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return sample_change(key, self.sites, state, self._logits(state, x))

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        return log_prob_change(self.sites, new, old, self._logits(old, x))

    def support(self, state: State, x: Input = None) -> tuple[State, Bool[Array, " states"]]:
        return self.sites.neighbourhood(state)


class ExactRatios(eqx.Module):
    """log π̂(y with y_i = k) - log π̂(y) by evaluating the density at every neighbour."""

    log_density: LogDensity
    sites: Sites

    def __call__(self, state: State, x: Input = None) -> Float[Array, "sites values"]:
        def score(site: Array) -> Array:
            neighbours = self.sites.neighbours(state, site)
            return jax.vmap(lambda one: one_number(self.log_density(one, x)))(neighbours)

        num_sites = self.sites.get(state).shape[0]
        return jax.vmap(score)(jnp.arange(num_sites)) - one_number(self.log_density(state, x))


class TaylorRatios(eqx.Module):
    """The same to first order, from one gradient: for densities that accept one-hot weights.

    `relaxed(weights, x)` takes an array of shape (sites, values) in place of the state and agrees
    with the log-density on one-hot rows.
    """

    relaxed: Callable[[Float[Array, "sites values"], Input], Any]
    sites: Sites

    def __call__(self, state: State, x: Input = None) -> Float[Array, "sites values"]:
        values = self.sites.get(state)
        one_hot = jax.nn.one_hot(values, self.sites.num_values)
        slope = jax.grad(lambda weights: one_number(self.relaxed(weights, x)))(one_hot)
        return slope - jnp.take_along_axis(slope, values[:, None], axis=1)


def locally_balanced(
    log_density: LogDensity,
    num_values: int | Any,
    *,
    relaxed: Callable[[Float[Array, "sites values"], Input], Any] | None = None,
    balance: Callable[[Array], Array] = jax.nn.log_sigmoid,
    where: Callable[[State], Any] | None = None,
) -> Metropolis:
    """A locally balanced kernel: looks at all single-site changes and prefers the good ones.

    With `relaxed`, a version of the density that accepts one-hot weights, changes are scored by one
    gradient (Gibbs with gradients); else by evaluating the density at every neighbour. Either way
    the Metropolis correction makes the target exact. Transition probabilities are exact too; that
    of staying put costs one scoring for each neighbour.

    `balance` is log g of the log-ratio, with g(t) = t g(1/t): Barker's t/(1+t) by default, or
    `lambda r: r / 2` for the square root.
    """
    sites = Sites(num_values, where)
    if relaxed is None:
        ratios: Any = ExactRatios(log_density, sites)
    else:
        ratios = TaylorRatios(relaxed, sites)
    return Metropolis(log_density, BalancedProposal(sites, ratios, balance))


def change_logits(sites: Sites, state: State, scores: Array) -> Float[Array, "sites values"]:
    """Logits over all single-site changes, the present values ruled out."""
    values = sites.get(state)
    present = jnp.arange(sites.num_values)[None] == values[:, None]
    shape = (values.shape[0], sites.num_values)
    return sites.mask(jnp.where(present, -jnp.inf, jnp.broadcast_to(scores, shape)))


def sample_change(
    key: RandomKey, sites: Sites, state: State, logits: Float[Array, "sites values"]
) -> State:
    choice = categorical(key, checked_logits(logits.ravel()))
    values = sites.get(state)
    site, value = jnp.divmod(choice, sites.num_values)
    return sites.put(state, values.at[site].set(value.astype(values.dtype)))


def log_prob_change(
    sites: Sites, new: State, old: State, logits: Float[Array, "sites values"]
) -> Scalar:
    changed = sites.get(new) != sites.get(old)
    site = jnp.argmax(changed)
    log_prob = log_prob_of(logits[site], sites.get(new)[site]) - jax.nn.logsumexp(logits)
    return jnp.where((changed.sum() == 1) & sites.same_rest(new, old), log_prob, -jnp.inf)
