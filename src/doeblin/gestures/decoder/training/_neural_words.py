"""Training A's networks together: one sees the strokes to and from each letter, one reads the whole
trace, and one sees what the others say of a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from .._tensors import LEAST_SPREAD
from ..reading import Reader
from ..restart import Network
from ..words import NUM_STROKE_INPUTS
from . import _reading
from ._copies import Copy, Traces
from ._neural import exported, silent

Floats = NDArray[np.float64]
# Hidden units of both networks, and what the strokes' says of a letter: this many numbers.
_STROKE_WIDTH, _STROKE_DEPTH, _WORD_WIDTH, _SUMS = 128, 2, 64, 16
_PASSES, _BATCH, _STEP, _WARM_UP = 36, 256, 0.004, 50
# The reader's steps, its decay, the greatest length of its gradient, and how much the chance of the
# true word among all strings counts beside that among the candidates.
_READER_STEP, _READER_DECAY, _STEEPEST, _ALL_STRINGS = 0.002, 0.01, 1.0, 0.3
# The share of hidden units left out at each step, and the weights' decay.
_DROPOUT, _DECAY = 0.2, 1e-5
# Sums over letters are scaled by this before the network of words sees them.
_SCALE = 0.3
# Rows are padded to multiples of this, so that JAX compiles few shapes.
_BUCKET = 16384


def fit_networks(
    copies: Sequence[Copy],
    plane: Floats,
    weights: Floats,
    epsilon: float,
    seed: int,
    progress: Callable[[int, int, float], None] | None = None,
) -> tuple[Network, Network, Reader]:
    """The networks of words and of strokes and the reader, by the likelihood of
    π̃ = ε·u + (1-ε)·full.

    They add to the scores that the factors have by their `weights`; what is more in the copies'
    features only the network of words sees. Each pass sees one of the `copies`, in turns.
    `progress` is called with the step, all steps, and the mean log-likelihood so far in this pass.
    """
    features, valid, *_ = copies[0].judged
    mean, spread = features[valid].mean(axis=0), features[valid].std(axis=0)
    spread = np.where(spread > LEAST_SPREAD, spread, 1.0)
    networks = _untrained(len(spread), seed)
    fewest = min(len(copy.judged.gold) for copy in copies)
    batch = min(_BATCH, fewest)
    each = fewest // batch
    steps = _PASSES * each

    def rate(highest: float) -> optax.Schedule:
        return optax.warmup_cosine_decay_schedule(0.0, highest, min(_WARM_UP, steps // 2), steps)

    optimiser = optax.multi_transform(
        {
            "networks": optax.adam(rate(_STEP)),
            "reader": optax.chain(
                optax.clip_by_global_norm(_STEEPEST),
                optax.adamw(rate(_READER_STEP), weight_decay=_READER_DECAY, mask=_matrices),
            ),
        },
        ("networks", "networks", "reader"),
    )
    state = optimiser.init(eqx.filter(networks, eqx.is_array))
    keys = jax.random.key(seed)

    def loss(networks: Any, key: Any, rows: Any, owners: Any, batch: Any) -> Any:
        inputs, base, u, gold, traces = batch
        *others, reader = networks
        said = _reading.read(
            reader, traces.places, traces.seconds, plane, jax.random.fold_in(key, 9)
        )
        chances = jax.vmap(_reading.log_chances)(said, traces.keys, traces.sizes)
        added = _added(others, rows, owners, inputs, base, reader["gain"] * chances, key)
        truth = jnp.arange(len(gold)), gold
        full = jax.nn.softmax(base + added)[truth]
        value = jnp.mean(jnp.log(epsilon * u[truth] + (1 - epsilon) * full + 1e-30))
        leaves = jax.tree.leaves(eqx.filter(others, eqx.is_array))
        decay = _DECAY * sum(jnp.sum(leaf**2) for leaf in leaves)
        return decay - value - _ALL_STRINGS * jnp.mean(chances[truth]), value

    @eqx.filter_jit
    def improve(networks: Any, state: Any, step: Any, *batch: Any) -> Any:
        key = jax.random.fold_in(keys, step)
        with jax.numpy_rank_promotion("allow"):  # Much of it runs in numpy, too.
            gradient, value = eqx.filter_grad(loss, has_aux=True)(networks, key, *batch)
        moves, state = optimiser.update(gradient, state, eqx.filter(networks, eqx.is_array))
        return eqx.apply_updates(networks, moves), state, value

    order, total, held = np.empty(0, np.int64), 0.0, jnp.empty((0, NUM_STROKE_INPUTS))
    for step in range(steps):
        (features, valid, u, gold), strokes, traces = copies[step // each % len(copies)]
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
        read = Traces(*(part[some] for part in traces))
        parts = scaled.astype(np.float32), base, u[some], gold[some], read
        networks, state, value = improve(
            networks, state, np.uint32(step), _rows(held, where), owners, parts
        )
        if progress is not None:
            total += float(value)
            progress(step + 1, steps, total / (step % each + 1))
    *others, reader = networks
    by_stroke, by_word = (exported(network) for network in others)
    (weight, bias), *rest = by_word.layers
    # The network takes features and sums as they are, of a candidate and of all of them in the
    # mean: their scaling goes into its first layer.
    scales = np.concatenate([1 / spread, np.full(_SUMS + 1, _SCALE)])
    middle = np.concatenate([mean, np.zeros(_SUMS + 1)])
    first = weight * np.tile(scales, 2)
    shift = bias - first @ np.tile(middle, 2)
    return (
        Network(((first, shift), *rest), rectified=True),
        Network(by_stroke.layers, rectified=True),
        _reading.exported(reader),
    )


@jax.jit
def _rows(held: Any, where: Any) -> Any:
    return held[where].astype(jnp.float32)


def _matrices(weights: Any) -> Any:
    """Which weights of the reader decay."""
    return jax.tree.map(lambda leaf: leaf.ndim > 1, weights)


def _untrained(num_seen: int, seed: int) -> tuple[eqx.nn.MLP, eqx.nn.MLP, dict[str, jax.Array]]:
    """Networks of strokes and words that add nothing to any score, and a reader."""
    first, second = jax.random.split(jax.random.key(seed))
    by_stroke = eqx.nn.MLP(
        NUM_STROKE_INPUTS, _SUMS, _STROKE_WIDTH, _STROKE_DEPTH, jax.nn.relu, key=first
    )
    last = by_stroke.layers[-1]
    quiet = last.weight.at[0].set(0.0), jnp.zeros(_SUMS)
    by_stroke = eqx.tree_at(
        lambda net: (net.layers[-1].weight, net.layers[-1].bias), by_stroke, quiet
    )
    by_word = eqx.nn.MLP(2 * (num_seen + _SUMS + 1), 1, _WORD_WIDTH, 1, jax.nn.relu, key=second)
    return by_stroke, silent(by_word), _reading.untrained(seed)


def _added(
    networks: Any, rows: Any, owners: Any, inputs: Any, base: Any, reading: Any, key: Any
) -> Any:
    """What the networks add to the score of each candidate, `reading` included."""
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
    seen = jnp.concatenate([inputs, _SCALE * sums, _SCALE * reading[..., None]], axis=-1)
    plain = sums[..., 0] + reading
    mean = jnp.einsum("nk,nkm->nm", jax.nn.softmax(base + plain), seen)
    seen = jnp.concatenate([seen, jnp.broadcast_to(mean[:, None], seen.shape)], axis=-1)
    return plain + jax.vmap(jax.vmap(by_word))(seen)[..., 0]
