"""Training A's networks: one sees the strokes to and from each letter, one the whole word."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from ..restart import Network, pack
from ..words import NUM_STROKE_INPUTS
from ._factors import Judged
from ._neural import exported, silent

if TYPE_CHECKING:
    from ...data import Gesture
    from .._decoder import Decoder

Floats = NDArray[np.float64]
# Hidden units of both networks, and what the strokes' says of a letter: this many numbers.
_STROKE_WIDTH, _STROKE_DEPTH, _WORD_WIDTH, _SUMS = 256, 2, 32, 16
_PASSES, _BATCH, _STEP, _WARM_UP = 16, 256, 0.004, 50
# The share of hidden units left out at each step, and the weights' decay.
_DROPOUT, _DECAY = 0.2, 1e-5
# Sums over letters are scaled by this before the network of words sees them.
_SCALE = 0.3
# Rows are padded to multiples of this, so that JAX compiles few shapes.
_BUCKET = 8192
# Gestures whose strokes a thread prepares at a time.
_CHUNK = 500


class Strokes(NamedTuple):
    """The strokes of all candidates of some gestures: one row a letter."""

    rows: NDArray[np.floating]
    candidates: NDArray[np.int64]
    """Which candidate of its gesture a row is of; those of a candidate are neighbours."""
    starts: NDArray[np.int64]
    """`starts[e] : starts[e + 1]` are the rows of gesture e."""

    def chosen(self, some: NDArray[np.int64], keep: int) -> tuple[NDArray, NDArray]:
        """The rows of some gestures, padded, and the candidate of each, numbered on."""
        sizes = np.diff(self.starts)[some]
        before = np.cumsum(sizes) - sizes
        at = np.repeat(self.starts[some] - before, sizes) + np.arange(sizes.sum())
        padded = -(-len(at) // _BUCKET) * _BUCKET
        rows = np.zeros((padded, self.rows.shape[1]), np.float32)
        rows[: len(at)] = self.rows[at]
        # Padding belongs to a candidate after the last.
        owners = np.full(padded, len(some) * keep, np.int32)
        owners[: len(at)] = self.candidates[at] + keep * np.repeat(np.arange(len(some)), sizes)
        return rows, owners


def gather_strokes(
    decoder: Decoder, gestures: Sequence[Gesture], ids: NDArray[np.int64], hits: NDArray[np.int64]
) -> Strokes:
    """The strokes of the candidates of many gestures, in half precision: there are millions."""

    def part(at: int) -> tuple[NDArray, NDArray]:
        end = at + _CHUNK
        packed = pack(gestures[at:end], decoder.layout)
        rows, owners = decoder.stroke_rows(packed, ids[at:end], hits[at:end])
        return rows.astype(np.float16), owners + at * ids.shape[1]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(part, range(0, len(ids), _CHUNK)))
    rows, owners = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    of_gesture, candidates = np.divmod(owners, ids.shape[1])
    return Strokes(rows, candidates, np.searchsorted(of_gesture, np.arange(len(ids) + 1)))


def fit_networks(
    judged: Judged,
    strokes: Strokes,
    weights: Floats,
    epsilon: float,
    seed: int,
    progress: Callable[[int, int, float], None] | None = None,
) -> tuple[Network, Network]:
    """The networks of words and of strokes, by the likelihood of π̃ = ε·u + (1-ε)·full.

    They add to the scores that the factors have by their `weights`. `progress` is called with the
    step, all steps, and the mean log-likelihood so far in this pass.
    """
    features, valid, u, gold = judged
    mean, spread = features[valid].mean(axis=0), features[valid].std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    scaled = np.where(valid[..., None], (features - mean) / spread, 0.0).astype(np.float32)
    data = (scaled, np.where(valid, features @ weights, -np.inf), u, gold)
    networks = _untrained(len(weights), seed)
    batch = min(_BATCH, len(gold))
    each = len(gold) // batch
    steps = _PASSES * each
    optimiser = optax.adam(
        optax.warmup_cosine_decay_schedule(0.0, _STEP, min(_WARM_UP, steps // 2), steps)
    )
    state = optimiser.init(eqx.filter(networks, eqx.is_array))
    keys = jax.random.key(seed)

    def loss(networks: Any, key: Any, rows: Any, owners: Any, batch: Any) -> Any:
        inputs, base, u, gold = batch
        added = _added(networks, rows, owners, inputs, key)
        truth = jnp.arange(len(gold)), gold
        full = jax.nn.softmax(base + added)[truth]
        value = jnp.mean(jnp.log(epsilon * u[truth] + (1 - epsilon) * full + 1e-30))
        leaves = jax.tree.leaves(eqx.filter(networks, eqx.is_array))
        return _DECAY * sum(jnp.sum(leaf**2) for leaf in leaves) - value, value

    @eqx.filter_jit
    def improve(networks: Any, state: Any, step: Any, *batch: Any) -> Any:
        key = jax.random.fold_in(keys, step)
        gradient, value = eqx.filter_grad(loss, has_aux=True)(networks, key, *batch)
        moves, state = optimiser.update(gradient, state)
        return eqx.apply_updates(networks, moves), state, value

    order, total = np.empty(0, np.int64), 0.0
    for step in range(steps):
        if step % each == 0:
            order = np.random.default_rng([seed, 8, step // each]).permutation(len(gold))
            total = 0.0
        at = step % each * batch
        some = order[at : at + batch]
        chosen = strokes.chosen(some, valid.shape[1])
        parts = tuple(array[some] for array in data)
        networks, state, value = improve(networks, state, np.uint32(step), *chosen, parts)
        if progress is not None:
            total += float(value)
            progress(step + 1, steps, total / (step % each + 1))
    by_stroke, by_word = (exported(network) for network in networks)
    (weight, bias), *rest = by_word.layers
    # The network takes features and sums as they are: their scaling goes into its first layer.
    of_factors, of_sums = np.split(weight, [len(weights)], axis=1)
    first = np.concatenate([of_factors / spread, _SCALE * of_sums], axis=1)
    shift = bias - of_factors @ (mean / spread)
    return (
        Network(((first, shift), *rest), rectified=True),
        Network(by_stroke.layers, rectified=True),
    )


def _untrained(num_factors: int, seed: int) -> tuple[eqx.nn.MLP, eqx.nn.MLP]:
    """Networks that add nothing to any score."""
    first, second = jax.random.split(jax.random.key(seed))
    by_stroke = eqx.nn.MLP(
        NUM_STROKE_INPUTS, _SUMS, _STROKE_WIDTH, _STROKE_DEPTH, jax.nn.relu, key=first
    )
    last = by_stroke.layers[-1]
    quiet = last.weight.at[0].set(0.0), jnp.zeros(_SUMS)
    by_stroke = eqx.tree_at(
        lambda net: (net.layers[-1].weight, net.layers[-1].bias), by_stroke, quiet
    )
    by_word = eqx.nn.MLP(num_factors + _SUMS, 1, _WORD_WIDTH, 1, jax.nn.relu, key=second)
    return by_stroke, silent(by_word)


def _added(networks: Any, rows: Any, owners: Any, inputs: Any, key: Any) -> Any:
    """What the networks add to the score of each candidate."""
    by_stroke, by_word = networks
    said = rows
    *hidden, last = by_stroke.layers
    for number, layer in enumerate(hidden):
        said = jax.nn.relu(said @ layer.weight.T + layer.bias)
        kept = jax.random.bernoulli(jax.random.fold_in(key, number), 1 - _DROPOUT, said.shape)
        said = said * kept / (1 - _DROPOUT)
    said = said @ last.weight.T + last.bias
    count, keep, _ = inputs.shape
    sums = jax.ops.segment_sum(said, owners, count * keep + 1, indices_are_sorted=True)
    sums = sums[:-1].reshape(count, keep, -1)
    seen = jnp.concatenate([inputs, _SCALE * sums], axis=-1)
    return sums[..., 0] + jax.vmap(jax.vmap(by_word))(seen)[..., 0]
