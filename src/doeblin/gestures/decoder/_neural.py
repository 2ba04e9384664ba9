"""Training u and its network jointly, by the likelihood over the trie.

The trie's sums run in compiled code, which hands back the derivative by each addition to a
potential; JAX carries it on through the network.
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

from ._network import Network
from ._rows import NUM_INPUTS

if TYPE_CHECKING:
    from ._training import Likelihood, Plan, Progress

_WIDTH, _DEPTH = 64, 2
# Rows are padded to multiples of this, so that JAX compiles few shapes.
_BUCKET = 2048


def make_network(seed: int, width: int = _WIDTH, depth: int = _DEPTH) -> eqx.nn.MLP:
    """A network whose output is zero, so that training starts from u as it is."""
    network = eqx.nn.MLP(NUM_INPUTS, 2, width, depth, jnp.tanh, key=jax.random.key(seed))
    last = network.layers[-1]
    zeros = (jnp.zeros(last.weight.shape), jnp.zeros(2))
    return eqx.tree_at(lambda net: (net.layers[-1].weight, net.layers[-1].bias), network, zeros)


def exported(network: eqx.nn.MLP) -> Network:
    """The network in numpy, for decoding and for files."""
    return Network(
        tuple(
            (np.asarray(layer.weight, float), np.asarray(layer.bias, float))
            for layer in network.layers
        )
    )


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
    weights: NDArray[np.float64],
    count: int,
    plan: Plan,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[NDArray[np.float64], Network]:
    """Adam on the network and on the log-linear weights together. Returns both."""
    from ._training import Progress

    each = max(1, count // plan.batch)
    steps = plan.passes * each
    network = make_network(plan.seed)
    parameters = (eqx.filter(network, eqx.is_array), jnp.asarray(weights))
    # The log-linear weights are almost there, and move at a tenth of the first step size.
    schedule = optax.linear_schedule(1.0, 0.0, steps)
    optimiser = optax.chain(optax.scale_by_adam(), optax.scale_by_schedule(schedule))
    state = optimiser.init(parameters)
    update = jax.jit(optimiser.update)
    total, seen = 0.0, 0
    order = np.empty(0, np.int64)
    for step in range(steps):
        if step % each == 0:
            order = np.random.default_rng([plan.seed, 7, step // each]).permutation(count)
            total, seen = 0.0, 0
        at = (step % each) * plan.batch
        batch = order[at : at + plan.batch]
        rows = likelihood.rows(batch)
        size = len(rows.inputs)
        padded = np.zeros((-(-size // _BUCKET) * _BUCKET, NUM_INPUTS), np.float32)
        padded[:size] = rows.inputs
        extra = np.asarray(outputs(network, padded), float)[:size]
        values, gradients, slopes = likelihood.with_extra(
            np.asarray(parameters[1], float), batch, np.ascontiguousarray(extra), *rows[1:]
        )
        padded_slopes = np.zeros((len(padded), 2), np.float32)
        padded_slopes[:size] = slopes / len(batch)
        by_network = eqx.filter(slopes_of(network, padded, padded_slopes), eqx.is_array)
        moves, state = update((by_network, jnp.asarray(gradients.mean(axis=0))), state)
        moved = (
            jax.tree.map(lambda p, m: p + 0.1 * plan.step * m, parameters[0], moves[0]),
            parameters[1] + 0.1 * plan.step * moves[1],
        )
        parameters = moved
        network = eqx.combine(moved[0], network)
        total, seen = total + values.sum(), seen + len(values)
        if progress is not None:
            progress(Progress(step + 1, steps, total / seen))
    return np.asarray(parameters[1], float), exported(network)
