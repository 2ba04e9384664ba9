"""Training u's network jointly with its weights.

The trie's sums run in compiled code on the processor, which hands back the derivative by each
addition to a potential; JAX carries it on through the network, on a GPU where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from ..restart import NUM_INPUTS, Extra, Network
from ._plan import Plan, Progress

if TYPE_CHECKING:
    from ._checkpoint import Checkpoint
    from ._likelihood import Likelihood

Floats = NDArray[np.float64]
_WIDTH, _DEPTH = 96, 2
# Rows are padded to multiples of this, so that JAX compiles few shapes.
_BUCKET = 2048
# Step sizes of the network and of the log-linear weights, which are almost there, as shares of the
# plan's.
_NETWORK_STEP, _WEIGHTS_STEP = 0.06, 0.02
_WARM_UP = 100
# Weights below this count as none.
_FAINT = 1e-20


def make_network(seed: int, width: int = _WIDTH, depth: int = _DEPTH) -> eqx.nn.MLP:
    """A network whose output is zero, so that training starts from u as it is."""
    return silent(eqx.nn.MLP(NUM_INPUTS, 2, width, depth, jnp.tanh, key=jax.random.key(seed)))


def silent(network: eqx.nn.MLP) -> eqx.nn.MLP:
    """The network with a last layer of zeros."""
    last = network.layers[-1]
    zeros = (jnp.zeros(last.weight.shape), jnp.zeros(last.weight.shape[0]))
    return eqx.tree_at(lambda net: (net.layers[-1].weight, net.layers[-1].bias), network, zeros)


def exported(network: eqx.nn.MLP) -> Network:
    """The network in numpy, for decoding and for files."""
    return Network(tuple((_plain(layer.weight), _plain(layer.bias)) for layer in network.layers))


def _plain(values: Any) -> Floats:
    # Decay takes idle weights to where processors multiply a hundred times slower.
    values = np.asarray(values, float)
    return np.where(np.abs(values) < _FAINT, 0.0, values)


@eqx.filter_jit
def outputs(network: eqx.nn.MLP, inputs: Any) -> Any:
    """What the network adds to the potentials of each row."""
    return jax.vmap(network)(inputs)


@eqx.filter_jit
def slopes_of(network: eqx.nn.MLP, inputs: Any, slopes: Any) -> Any:
    """The gradient by the network's weights, given that by its outputs."""
    return eqx.filter_grad(lambda net: jnp.sum(jax.vmap(net)(inputs) * slopes))(network)


def train_network(
    likelihood: Likelihood,
    weights: Floats,
    count: int,
    plan: Plan,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Floats, Network]:
    """Adam on the network and on the log-linear weights together. Returns both."""
    each = max(1, count // plan.batch)
    steps = plan.passes * each
    network = make_network(plan.seed)
    shape = eqx.filter(network, eqx.is_array)
    optimiser = optax.chain(
        optax.scale_by_adam(),
        optax.scale_by_schedule(
            optax.warmup_cosine_decay_schedule(0.0, 1.0, min(_WARM_UP, steps // 2), steps)
        ),
    )
    parameters = (shape, jnp.asarray(weights, jnp.float32))
    state, start = optimiser.init(parameters), 0
    found = checkpoint.read() if checkpoint is not None else None
    if found is not None:
        start, tensors = found
        leaves = [jnp.asarray(tensors[str(k)]) for k in range(len(tensors))]
        parameters, state = jax.tree.unflatten(jax.tree.structure((parameters, state)), leaves)
    update = jax.jit(optimiser.update)
    total, seen = 0.0, 0
    order = np.empty(0, np.int64)
    for step in range(start, steps):
        if step % each == 0 or step == start:
            order = np.random.default_rng([plan.seed, 7, step // each]).permutation(count)
            total, seen = 0.0, 0
        at = (step % each) * plan.batch
        batch = order[at : at + plan.batch]
        network = eqx.combine(parameters[0], network)
        rows = likelihood.rows(batch)
        inputs = _padded(rows.inputs)
        extra = np.asarray(outputs(network, inputs), float)[: len(rows.inputs)]
        values, gradients, slopes = likelihood.with_extra(
            np.asarray(parameters[1], float), batch, Extra(np.ascontiguousarray(extra), *rows[1:])
        )
        by_network = slopes_of(network, inputs, _padded(slopes / len(batch)))
        by_weights = jnp.asarray(gradients.mean(axis=0), jnp.float32)
        moves, state = update((eqx.filter(by_network, eqx.is_array), by_weights), state)
        parameters = (
            jax.tree.map(
                lambda value, move: value + _NETWORK_STEP * plan.step * move,
                parameters[0],
                moves[0],
            ),
            parameters[1] + _WEIGHTS_STEP * plan.step * moves[1],
        )
        total, seen = total + values.sum(), seen + len(values)
        if progress is not None:
            progress(Progress(step + 1, steps, total / seen))
        if checkpoint is not None and checkpoint.due(step + 1, steps):
            leaves = jax.tree.leaves((parameters, state))
            checkpoint.write(step + 1, {str(k): np.asarray(leaf) for k, leaf in enumerate(leaves)})
    return np.asarray(parameters[1], float), exported(eqx.combine(parameters[0], network))


def _padded(rows: Floats) -> NDArray[np.float32]:
    padded = np.zeros((-(-len(rows) // _BUCKET) * _BUCKET, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    return padded
