"""Linear chains by dynamic programming: everything in the log domain, so safe in float32.

What is offered is compiled as a whole: one operation at a time, a first call would take seconds.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Count, RandomKey, Scalar
from .._errors import InputError
from .._plain import plain_errors

Labels = Int[Array, " length"]


class Sums(NamedTuple):
    """Log-weights of all beginnings and of all continuations, by the label at a place."""

    before: Float[Array, "length labels"]
    """Of the labels up to and at the place."""
    after: Float[Array, "length labels"]
    """Of the labels after it; 0 in the padding."""


class Potentials(eqx.Module):
    """Scores of one sequence: log-weight(y) = Σ_t unary[t, y_t] + Σ_t pairwise[(t,) y_{t-1}, y_t].

    `pairwise` is one matrix for the whole sequence, or one for each step (entry t leads from place
    t to t + 1). Only the first `length` places count; the rest is padding, where labels are 0.
    Scores may be -inf to forbid what they belong to.
    """

    unary: Float[Array, "length labels"]
    pairwise: Float[Array, "labels labels"] | Float[Array, "steps labels labels"]
    length: Count
    log_z: Scalar | None
    sums: Sums | None

    def __init__(
        self,
        unary: Float[Array, "length labels"],
        pairwise: Float[Array, "..."],
        length: Count | int | None = None,
        log_z: Scalar | None = None,
        sums: Sums | None = None,
    ):
        places, labels = unary.shape
        if places < 1 or pairwise.shape not in (
            (labels, labels),
            (places - 1, labels, labels),
        ):
            raise InputError(
                f"unary scores of shape {unary.shape} need pairwise scores of shape "
                f"{(labels, labels)} or {(places - 1, labels, labels)}, got {pairwise.shape}"
            )
        self.unary, self.pairwise = (
            scores if jnp.issubdtype(scores.dtype, jnp.inexact) else scores.astype(float)
            for scores in (unary, pairwise)
        )
        self.length = jnp.asarray(places if length is None else length, dtype=jnp.int32)
        self.log_z = log_z
        self.sums = sums

    @property
    def inside(self) -> Bool[Array, " length"]:
        """Which places are not padding."""
        return jnp.arange(self.unary.shape[0]) < self.length

    @property
    def first(self) -> Float[Array, " labels"]:
        """The scores of the first place; without any place there is one labelling, label 0."""
        nothing = jnp.where(jnp.arange(self.unary.shape[1]) == 0, 0, -jnp.inf)
        return jnp.where(self.length > 0, self.unary[0], nothing.astype(self.unary.dtype))

    @property
    def steps(self) -> Float[Array, "steps labels labels"]:
        """Pairwise scores, one matrix for each step."""
        places, labels = self.unary.shape
        return jnp.broadcast_to(self.pairwise, (places - 1, labels, labels))

    def step(self, number: Count) -> Float[Array, "labels labels"]:
        """The pairwise scores of one step."""
        return self.pairwise if self.pairwise.ndim == 2 else self.pairwise[number]

    def at_steps(self, labels: Labels) -> Float[Array, " steps"]:
        """The pairwise scores of a labelling."""
        before, after = labels[:-1], labels[1:]
        if self.pairwise.ndim == 2:
            return self.pairwise[before, after]
        return self.pairwise[jnp.arange(before.shape[0]), before, after]

    def normalised(self) -> Potentials:
        """The same, remembering its log-partition, which is then not computed again."""
        return Potentials(self.unary, self.pairwise, self.length, log_partition(self), self.sums)

    def summed(self) -> Potentials:
        """The same, remembering all its sums: then ends of a labelling are redrawn without new
        ones, in O(length · labels) instead of O(length · labels²)."""
        sums = Sums(_filter(self), _continuations(self))
        log_z = safe_logsumexp(sums.before[-1], axis=0)
        return Potentials(self.unary, self.pairwise, self.length, log_z, sums)

    def restricted(self, allowed: Bool[Array, "length labels"]) -> Potentials:
        """The same with some labels ruled out at some places."""
        unary = jnp.where(allowed, self.unary, -jnp.inf)
        return Potentials(unary, self.pairwise, self.length)


@jax.jit
def log_weight(potentials: Potentials, labels: Labels) -> Scalar:
    """Unnormalised log-weight of one labelling; -inf if there is no such label somewhere."""
    at_places = jnp.take_along_axis(potentials.unary, labels[:, None], axis=1)[:, 0]
    at_steps = potentials.at_steps(labels)
    # `where` and not a product: padding may hold -inf.
    inside = potentials.inside
    total = jnp.where(inside, at_places, 0).sum() + jnp.where(inside[1:], at_steps, 0).sum()
    # JAX clamps indices that are too large, and counts those below zero from the end.
    known = (labels >= 0) & (labels < potentials.unary.shape[1])
    return jnp.where((known | ~inside).all(), total, -jnp.inf)


@jax.jit
def log_partition(potentials: Potentials) -> Scalar:
    """log Σ_y exp(log-weight(y)): forward algorithm, O(length · labels²)."""
    if potentials.log_z is not None:
        return potentials.log_z

    def step(log_alpha: Array, place: Place) -> tuple[Array, None]:
        unary, pairwise, inside = place
        following = unary + advance(log_alpha, _or_shared(pairwise, potentials))
        return jnp.where(inside, following, log_alpha), None

    # For derivatives, what a step computes with all pairs of labels is computed again, not kept.
    again = jax.checkpoint(step, prevent_cse=False)
    last = jax.lax.scan(again, potentials.first, _places(potentials))[0]
    return safe_logsumexp(last, axis=0)


@jax.jit
def marginals(
    potentials: Potentials,
) -> tuple[Float[Array, "length labels"], Float[Array, "steps labels labels"]]:
    """P(y_t = k) at every place, and P(y_t = j, y_{t+1} = k) at every step; 0 in the padding.

    They are the gradient of the log-partition (forward–backward by reverse differentiation).
    """

    def log_z(unary: Array, pairwise: Array) -> Scalar:
        return log_partition(Potentials(unary, pairwise, potentials.length))

    return jax.grad(log_z, argnums=(0, 1))(potentials.unary, potentials.steps)


def sample(key: RandomKey, potentials: Potentials) -> Labels:
    """An exact draw: forward filtering, backward sampling."""
    with plain_errors():
        return _sample(key, potentials)


@eqx.filter_jit
def _sample(key: RandomKey, potentials: Potentials) -> Labels:
    return possible(*draw(key, potentials))


def draw(key: RandomKey, potentials: Potentials) -> tuple[Labels, Scalar]:
    """A draw that means nothing unless the log-partition, which comes with it, is a number."""
    log_alphas = _filter(potentials)
    noise = jax.random.gumbel(key, log_alphas.shape, mode="high")
    return _trace_back(potentials, log_alphas + noise), safe_logsumexp(log_alphas[-1], axis=0)


def possible(labels: Labels, log_z: Scalar) -> Labels:
    """Labels, or a run-time error if the total weight of those that there are is no number."""
    return eqx.error_if(
        labels,
        ~jnp.isfinite(log_z),
        "the scores of a CRF are NaN or +inf somewhere, add up to more than a float can hold, or "
        "leave no labelling possible; they must be finite, or -inf for what is impossible (look "
        "for NaN and infinities in the features)",
    )


def viterbi(potentials: Potentials) -> tuple[Labels, Scalar]:
    """The labelling of largest log-weight, and that log-weight."""
    with plain_errors():
        return _viterbi(potentials)


@eqx.filter_jit
def _viterbi(potentials: Potentials) -> tuple[Labels, Scalar]:
    # A maximum may overlook NaN, a sum does not.
    log_z = log_partition(potentials)

    def step(best: Array, place: Place) -> tuple[Array, Array]:
        unary, pairwise, inside = place
        following = unary + jnp.max(best[:, None] + _or_shared(pairwise, potentials), axis=0)
        following = jnp.where(inside, following, best)
        return following, following

    first = potentials.first
    rest = jax.lax.scan(step, first, _places(potentials))[1]
    labels = _trace_back(potentials, jnp.concatenate([first[None], rest]))
    return possible(labels, log_z), log_weight(potentials, labels)


def safe_logsumexp(terms: Array, axis: int) -> Array:
    """Log-sum-exp whose gradient is zero, not NaN, where all terms are -inf; NaN of NaN."""
    top = jax.lax.stop_gradient(jnp.max(terms, axis=axis, keepdims=True))
    top = jnp.where(jnp.isfinite(top), top, 0)
    total = jnp.sum(jnp.exp(terms - top), axis=axis)
    nothing = total == 0
    log_total = jnp.log(jnp.where(nothing, 1, total)) + jnp.squeeze(top, axis)
    return jnp.where(nothing, -jnp.inf, log_total)


def advance(
    log_alpha: Float[Array, "*batch labels"], pairwise: Float[Array, "labels labels"]
) -> Float[Array, "*batch labels"]:
    """One step of the forward algorithm, without the new place's unary scores."""
    pairwise = jnp.expand_dims(pairwise, range(log_alpha.ndim - 1))
    return safe_logsumexp(log_alpha[..., :, None] + pairwise, axis=-2)


def _filter(potentials: Potentials) -> Float[Array, "length labels"]:
    """log α_t: log-weights of all beginnings by their last label (repeated in the padding)."""

    def step(log_alpha: Array, place: Place) -> tuple[Array, Array]:
        unary, pairwise, inside = place
        following = unary + advance(log_alpha, _or_shared(pairwise, potentials))
        following = jnp.where(inside, following, log_alpha)
        return following, following

    first = potentials.first
    rest = jax.lax.scan(step, first, _places(potentials))[1]
    return jnp.concatenate([first[None], rest])


def _continuations(potentials: Potentials) -> Float[Array, "length labels"]:
    def step(log_beta: Array, place: Place) -> tuple[Array, Array]:
        unary, pairwise, inside = place
        pairwise = _or_shared(pairwise, potentials)
        earlier = safe_logsumexp(pairwise + unary[None] + log_beta[None], axis=1)
        earlier = jnp.where(inside, earlier, 0)
        return earlier, earlier

    last = jnp.zeros_like(potentials.unary[0])
    rest = jax.lax.scan(step, last, _places(potentials), reverse=True)[1]
    return jnp.concatenate([rest, last[None]])


def _trace_back(potentials: Potentials, scores: Float[Array, "length labels"]) -> Labels:
    """From the last place to the first: the best label given the one after it.

    With Gumbel noise in the scores this is backward sampling, without it Viterbi's traceback.
    """
    places, labels = potentials.unary.shape

    def step(after: Array, place: Place) -> tuple[Array, Array]:
        score, pairwise, index = place
        pairwise = _or_shared(pairwise, potentials)
        ahead = jnp.where(index < potentials.length - 1, pairwise[:, after], 0)
        label = jnp.argmax(score + ahead)
        label = jnp.where(index < potentials.length, label, 0)
        return label, label

    pairwise = None
    if potentials.pairwise.ndim == 3:
        last_step = jnp.zeros((1, labels, labels), potentials.pairwise.dtype)
        pairwise = jnp.concatenate([potentials.pairwise, last_step])
    return jax.lax.scan(step, jnp.array(0), (scores, pairwise, jnp.arange(places)), reverse=True)[
        1
    ].astype(jnp.int32)


Place = tuple[Array, Array | None, Array]


def _places(potentials: Potentials) -> Place:
    """What steps go through. One matrix for all steps is not repeated here: its derivatives would
    be kept for each place."""
    own, inside = None, potentials.inside[1:]
    if potentials.pairwise.ndim == 3:
        own = jnp.where(inside[:, None, None], potentials.pairwise, 0)
    return potentials.unary[1:], own, inside


def _or_shared(pairwise: Array | None, potentials: Potentials) -> Array:
    return potentials.pairwise if pairwise is None else pairwise
