"""Training A's networks: one sees the strokes to and from each letter, one the whole word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from ..restart import Network
from ..words import NUM_STROKE_INPUTS
from ._copies import Copy
from ._neural import exported, silent

Floats = NDArray[np.float64]
# Hidden units of both networks, and what the strokes' says of a letter: this many numbers.
_STROKE_WIDTH, _STROKE_DEPTH, _WORD_WIDTH, _SUMS = 256, 2, 64, 16
_PASSES, _BATCH, _STEP, _WARM_UP = 18, 256, 0.004, 50
# The share of hidden units left out at each step, and the weights' decay.
_DROPOUT, _DECAY = 0.2, 1e-5
# Sums over letters are scaled by this before the network of words sees them.
_SCALE = 0.3
# Rows are padded to multiples of this, so that JAX compiles few shapes.
_BUCKET = 16384


def fit_networks(
    copies: Sequence[Copy],
    weights: Floats,
    epsilon: float,
    seed: int,
    progress: Callable[[int, int, float], None] | None = None,
) -> tuple[Network, Network]:
    """The networks of words and of strokes, by the likelihood of π̃ = ε·u + (1-ε)·full.

    They add to the scores that the factors have by their `weights`; what is more in the copies'
    features only the network of words sees. Each pass sees one of the `copies`, in turns.
    `progress` is called with the step, all steps, and the mean log-likelihood so far in this pass.
    """
    features, valid, *_ = copies[0].judged
    mean, spread = features[valid].mean(axis=0), features[valid].std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    networks = _untrained(len(spread), seed)
    fewest = min(len(copy.judged.gold) for copy in copies)
    batch = min(_BATCH, fewest)
    each = fewest // batch
    steps = _PASSES * each
    optimiser = optax.adam(
        optax.warmup_cosine_decay_schedule(0.0, _STEP, min(_WARM_UP, steps // 2), steps)
    )
    state = optimiser.init(eqx.filter(networks, eqx.is_array))
    keys = jax.random.key(seed)

    def loss(networks: Any, key: Any, rows: Any, owners: Any, batch: Any) -> Any:
        inputs, base, u, gold = batch
        added = _added(networks, rows, owners, inputs, base, key)
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

    order, total, held = np.empty(0, np.int64), 0.0, jnp.empty((0, NUM_STROKE_INPUTS))
    for step in range(steps):
        (features, valid, u, gold), strokes = copies[step // each % len(copies)]
        if step % each == 0:
            order = np.random.default_rng([seed, 8, step // each]).permutation(len(gold))
            total = 0.0
            # On a GPU, choosing rows there is several times as fast as sending those of each step.
            held = jnp.asarray(strokes.rows)
        at = step % each * batch
        some = order[at : at + batch]
        where, owners = strokes.chosen(some, valid.shape[1], _BUCKET)
        there = valid[some]
        scaled = np.where(there[..., None], (features[some] - mean) / spread, 0.0)
        base = np.where(there, features[some, :, : len(weights)] @ weights, -np.inf)
        parts = scaled.astype(np.float32), base, u[some], gold[some]
        networks, state, value = improve(
            networks, state, np.uint32(step), _rows(held, where), owners, parts
        )
        if progress is not None:
            total += float(value)
            progress(step + 1, steps, total / (step % each + 1))
    by_stroke, by_word = (exported(network) for network in networks)
    (weight, bias), *rest = by_word.layers
    # The network takes features and sums as they are, of a candidate and of all of them in the
    # mean: their scaling goes into its first layer.
    scales = np.concatenate([1 / spread, np.full(_SUMS, _SCALE)])
    middle = np.concatenate([mean, np.zeros(_SUMS)])
    first = weight * np.tile(scales, 2)
    shift = bias - first @ np.tile(middle, 2)
    return (
        Network(((first, shift), *rest), rectified=True),
        Network(by_stroke.layers, rectified=True),
    )


@jax.jit
def _rows(held: Any, where: Any) -> Any:
    return held[where].astype(jnp.float32)


def _untrained(num_seen: int, seed: int) -> tuple[eqx.nn.MLP, eqx.nn.MLP]:
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
    by_word = eqx.nn.MLP(2 * (num_seen + _SUMS), 1, _WORD_WIDTH, 1, jax.nn.relu, key=second)
    return by_stroke, silent(by_word)


def _added(networks: Any, rows: Any, owners: Any, inputs: Any, base: Any, key: Any) -> Any:
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
    mean = jnp.einsum("nk,nkm->nm", jax.nn.softmax(base + sums[..., 0]), seen)
    seen = jnp.concatenate([seen, jnp.broadcast_to(mean[:, None], seen.shape)], axis=-1)
    return sums[..., 0] + jax.vmap(jax.vmap(by_word))(seen)[..., 0]
