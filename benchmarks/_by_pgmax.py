"""The field of `beside` in pgmax, which needs an older JAX than ours: a program of its own.

`PYTHON _by_pgmax.py NOISY.npy COUPLING OUT.npz`, with a Python that has pgmax.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from pgmax import fgraph, fgroup, infer, vgroup  # pyright: ignore[reportMissingImports]


def by_pgmax(pictures: np.ndarray, coupling: float) -> list[Any]:
    height, width = pictures[0].shape
    pixel = vgroup.NDVarArray(num_states=2, shape=(height, width))
    graph = fgraph.FactorGraph(variable_groups=[pixel])
    across = [[pixel[i, j], pixel[i, j + 1]] for i in range(height) for j in range(width - 1)]
    down = [[pixel[i, j], pixel[i + 1, j]] for i in range(height - 1) for j in range(width)]
    same = fgroup.PairwiseFactorGroup(
        variables_for_factors=across + down, log_potential_matrix=coupling * np.eye(2)
    )
    graph.add_factors(same)
    messages = infer.build_inferer(graph.bp_state, backend="bp")

    @jax.jit
    def one(noisy: Any) -> Any:
        evidence = jnp.stack([-noisy, noisy], axis=-1)
        arrays = messages.init(evidence_updates={pixel: evidence})
        arrays = messages.run(arrays, num_iters=100, damping=0.5, temperature=1.0)
        return infer.get_marginals(messages.get_beliefs(arrays))[pixel][..., 1]

    return [one(noisy) for noisy in pictures]


if __name__ == "__main__":
    noisy = np.load(sys.argv[1])
    seconds, found = [], []
    for some in (noisy[:1], noisy):
        began = time.process_time()
        found = [np.asarray(each) for each in by_pgmax(some, float(sys.argv[2]))]
        seconds.append(time.process_time() - began)
    np.savez(sys.argv[3], found=np.array(found), seconds=np.array(seconds))
