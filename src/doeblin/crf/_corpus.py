"""A whole data set of labelled sequences, laid out for the likelihood of linear-chain CRFs.

What does not depend on parameters is computed once: how often each feature goes with each label
(the likelihood is linear in these counts, but for the log-partitions), and where each feature
occurs, so that gradients are gathered and not scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from .._custom_types import Scalar
from .._penalty import SquaredNorm
from ..learning import Dataset
from ._potentials import Potentials, log_partition
from ._restart import LinearPotentials, Observed, SparseFeatures

# Occurrences of a feature are summed in rows of this many, then row by row.
_ROW = 16
# Up to this range of the transition scores, the forward algorithm is safe outside the log domain:
# what underflows, below e^-87, is less than e^-27 of its sum.
_SAFE_RANGE = 60.0


class Corpus(eqx.Module):
    """Labelled sequences. `log_likelihood(potentials)` is that of all, and quick to differentiate.

    `buckets` hold pairs (observed, labels) stacked along a leading axis and padded, as
    `Dataset.buckets` do.
    """

    features: Float[Array, "places features"] | Transposed
    counts: LinearPotentials
    """Sums over the data of what multiplies each parameter."""
    buckets: tuple[Bucket, ...]

    def __init__(self, buckets: Sequence[tuple[Observed, Any]], num_features: int, num_labels: int):
        parts = [jax.tree.map(np.asarray, bucket) for bucket in buckets]
        masks = [
            np.arange(labels.shape[1]) < observed.length[:, None] for observed, labels in parts
        ]
        num_places = sum(int(mask.sum()) for mask in masks)
        flat = [
            jax.tree.map(lambda leaf, mask=mask: leaf[mask], observed.features)
            for (observed, _), mask in zip(parts, masks, strict=True)
        ]
        labels = np.concatenate(
            [labels[mask] for (_, labels), mask in zip(parts, masks, strict=True)]
        )
        self.features, weight_counts = _joined(flat, labels, num_features, num_labels)
        edges = np.zeros((3, num_labels, num_labels))
        found, begin = [], 0
        for (observed, own), mask in zip(parts, masks, strict=True):
            places = np.full(mask.shape, num_places)
            places[mask] = begin + np.arange(mask.sum())
            begin += int(mask.sum())
            found.append(Bucket(jnp.asarray(places.T), jnp.asarray(observed.length)))
            np.add.at(edges[0], (own[:, :-1][mask[:, 1:]], own[:, 1:][mask[:, 1:]]), 1)
            np.add.at(edges[1, 0], own[:, 0], 1)
            np.add.at(edges[2, 0], own[np.arange(len(own)), observed.length - 1], 1)
        self.buckets = tuple(found)
        rows = (weight_counts, edges[0], edges[1, 0], edges[2, 0])
        self.counts = LinearPotentials(*(jnp.asarray(row, dtype=float) for row in rows))

    def __len__(self) -> int:
        return sum(bucket.lengths.shape[0] for bucket in self.buckets)

    def log_likelihood(self, potentials: LinearPotentials) -> Scalar:
        """The sum of the log-likelihoods of all sequences."""
        products = jax.tree.map(lambda a, b: jnp.sum(a * b), self.counts, potentials)
        observed = sum(jax.tree.leaves(products), jnp.array(0.0))
        if isinstance(self.features, Transposed):
            unary = self.features.times(potentials.weights)
        else:
            unary = self.features @ potentials.weights
        # One more place, for the padding to point at.
        unary = jnp.concatenate([unary, jnp.zeros((1, unary.shape[1]))])
        return observed - sum(bucket.log_partition(unary, potentials) for bucket in self.buckets)


def train_crf(
    potentials: LinearPotentials, data: Dataset, *, l2: float, steps: int
) -> LinearPotentials:
    """Maximum likelihood (less l2/2·‖θ‖²) of a linear-chain CRF, by L-BFGS on all data at once."""
    corpus = Corpus(data.buckets, *potentials.weights.shape)
    return _climbed(potentials, corpus, l2, steps)


_LBFGS = optax.lbfgs()


@eqx.filter_jit
def _climbed(potentials: Any, corpus: Corpus, l2: float, steps: int) -> LinearPotentials:
    def loss(potentials: LinearPotentials) -> Array:
        total = corpus.log_likelihood(potentials)
        return SquaredNorm(l2)(potentials) - total / len(corpus)

    value_and_grad = optax.value_and_grad_from_state(loss)

    def step(carry: Any, _: None) -> tuple[Any, None]:
        point, state = carry
        value, slope = value_and_grad(point, state=state)
        updates, state = _LBFGS.update(slope, state, point, value=value, grad=slope, value_fn=loss)
        return (optax.apply_updates(point, updates), state), None

    start = (potentials, _LBFGS.init(potentials))
    return jax.lax.scan(step, start, None, length=steps)[0][0]


class Bucket(eqx.Module):
    """Sequences of about one length, side by side."""

    places: Int[Array, "length sequences"]
    lengths: Int[Array, " sequences"]

    def log_partition(self, unary: Array, potentials: LinearPotentials) -> Scalar:
        """The sum of the sequences' log-partitions."""
        scores = unary[self.places].at[0].add(potentials.start)
        last = jnp.arange(len(self.places))[:, None] == self.lengths - 1
        scores = scores + jnp.where(last[..., None], potentials.end, 0)
        steps = potentials.transitions
        safe = jnp.max(steps) - jnp.min(steps) < _SAFE_RANGE
        return jax.lax.cond(
            safe,
            lambda: self._scaled(scores, steps),
            lambda: self._logarithmic(scores, steps),
        )

    def _scaled(self, scores: Array, steps: Array) -> Scalar:
        """The forward algorithm with probabilities scaled at each place: one product a step.

        Labels come first and sequences last, so that all that happens to a place is done for many
        sequences at once.
        """
        scores = scores.transpose(0, 2, 1)
        top = jax.lax.stop_gradient(scores.max(axis=1))
        factors = jnp.exp(scores - top[:, None])
        highest = jax.lax.stop_gradient(steps.max())
        moves = jnp.exp(steps - highest).T
        inside = jnp.arange(len(scores))[:, None] < self.lengths

        def step(alpha: Array, place: tuple[Array, Array]) -> tuple[Array, Array]:
            factor, inside = place
            following = (moves @ alpha) * factor
            total = following.sum(axis=0)
            following = jnp.where(inside, following / total, alpha)
            return following, jnp.where(inside, total, 1)

        total = factors[0].sum(axis=0)
        scales = jax.lax.scan(step, factors[0] / total, (factors[1:], inside[1:]))[1]
        shifts = jnp.sum(jnp.where(inside, top, 0)) + highest * jnp.sum(inside[1:])
        return shifts + jnp.sum(jnp.log(total)) + jnp.sum(jnp.log(scales))

    def _logarithmic(self, scores: Array, steps: Array) -> Scalar:
        def one(unary: Array, length: Array) -> Scalar:
            return log_partition(Potentials(unary, steps, length))

        return jnp.sum(jax.vmap(one, in_axes=(1, 0))(scores, self.lengths))


class Transposed(eqx.Module):
    """Sparse features of many places, by place and by feature."""

    numbers: Int[Array, "entries places"]
    values: Float[Array, "entries places"] | None
    """None if all are one, and places have equally many."""
    rows: Int[Array, "row rows"]
    """Places where a feature occurs, padded with the number of places."""
    row_values: Float[Array, "row rows"] | None
    row_features: Int[Array, " rows"]
    num_features: int = eqx.field(static=True)

    def __init__(self, numbers: np.ndarray, values: np.ndarray, num_features: int):
        self.num_features = num_features
        num_places, num_entries = numbers.shape
        used = values.ravel() != 0
        feature = numbers.ravel()[used]
        place = np.repeat(np.arange(num_places), num_entries)[used]
        order = np.argsort(feature, kind="stable")
        feature, place = feature[order], place[order]
        counts = np.bincount(feature, minlength=num_features)
        first_row = np.concatenate([[0], np.cumsum(-(-counts // _ROW))])
        index = np.arange(len(feature)) - (np.cumsum(counts) - counts)[feature]
        at = (index % _ROW, first_row[feature] + index // _ROW)
        rows = np.full((_ROW, first_row[-1]), num_places)
        rows[at] = place
        row_values = np.zeros(rows.shape, np.float32)
        row_values[at] = values.ravel()[used][order]
        indicators = bool(np.all(values == 1))
        self.numbers = jnp.asarray(numbers.T)
        self.values = None if indicators else jnp.asarray(values.T)
        self.rows = jnp.asarray(rows)
        self.row_values = None if indicators else jnp.asarray(row_values)
        self.row_features = jnp.asarray(np.repeat(np.arange(num_features), np.diff(first_row)))

    def times(self, weights: Float[Array, "features labels"]) -> Float[Array, "places labels"]:
        """At each place, the sum of the weights of its features times their values."""
        return _times(weights, self)


@jax.custom_vjp
def _times(weights: Array, features: Transposed) -> Array:
    return _gathered(weights, features.numbers, features.values)


def _times_forward(weights: Array, features: Transposed) -> tuple[Array, Transposed]:
    return _times(weights, features), features


def _times_backward(features: Transposed, slope: Array) -> tuple[Array, None]:
    padded = jnp.concatenate([slope, jnp.zeros((1, slope.shape[1]), slope.dtype)])
    by_row = _gathered(padded, features.rows, features.row_values)
    total = jax.ops.segment_sum(
        by_row, features.row_features, features.num_features, indices_are_sorted=True
    )
    return total, None


_times.defvjp(_times_forward, _times_backward)


def _gathered(table: Array, numbers: Array, values: Array | None) -> Array:
    """Σ_e values[e, i] · table[numbers[e, i]], entry by entry to save memory."""

    def add(total: Array, entry: Any) -> tuple[Array, None]:
        number, value = entry
        picked = table[number]
        return total + (picked if value is None else picked * value[:, None]), None

    start = jnp.zeros((numbers.shape[1], table.shape[1]), table.dtype)
    return jax.lax.scan(add, start, (numbers, values), unroll=4)[0]


def _joined(
    parts: list[Any], labels: np.ndarray, num_features: int, num_labels: int
) -> tuple[Any, np.ndarray]:
    """Features of all places, and how much of each goes with each label."""
    counts = np.zeros((num_features, num_labels))
    if not isinstance(parts[0], SparseFeatures):
        dense = np.concatenate(parts).astype(np.float32)
        for label in range(num_labels):
            counts[:, label] = dense[labels == label].sum(axis=0, dtype=np.float64)
        return jnp.asarray(dense), counts
    width = max(part.numbers.shape[1] for part in parts)
    numbers, values = (
        np.concatenate([np.pad(leaf, ((0, 0), (0, width - leaf.shape[1]))) for leaf in leaves])
        for leaves in zip(*parts, strict=True)
    )
    np.add.at(counts, (numbers, labels[:, None]), values)
    return Transposed(numbers, values, num_features), counts
