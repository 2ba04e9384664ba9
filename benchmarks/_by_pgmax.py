"""The field of `beside` in pgmax, which needs an older JAX than ours: a program of its own.

`PYTHON _by_pgmax.py NOISY.npy COUPLING OUT.npz`, with a Python that has pgmax.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import jax
import numpy as np
from pgmax import fgraph, fgroup, infer, vgroup  # pyright: ignore[reportMissingImports]


def by_pgmax(noisy: np.ndarray, coupling: float) -> Any:
    height, width = noisy.shape
    pixel = vgroup.NDVarArray(num_states=2, shape=(height, width))
    graph = fgraph.FactorGraph(variable_groups=[pixel])
    across = [[pixel[i, j], pixel[i, j + 1]] for i in range(height) for j in range(width - 1)]
    down = [[pixel[i, j], pixel[i + 1, j]] for i in range(height - 1) for j in range(width)]
    same = fgroup.PairwiseFactorGroup(
        variables_for_factors=across + down, log_potential_matrix=coupling * np.eye(2)
    )
    graph.add_factors(same)
    messages = infer.build_inferer(graph.bp_state, backend="bp")
    arrays = messages.init(evidence_updates={pixel: np.stack([-noisy, noisy], axis=-1)})
    arrays = messages.run(arrays, num_iters=100, damping=0.5, temperature=1.0)
    return infer.get_marginals(messages.get_beliefs(arrays))[pixel][..., 1]


if __name__ == "__main__":
    pictures = np.load(sys.argv[1])
    seconds, found = [], []
    for picture in pictures:
        began = time.process_time()
        found.append(np.asarray(jax.block_until_ready(by_pgmax(picture, float(sys.argv[2])))))
        seconds.append(time.process_time() - began)
    np.savez(sys.argv[3], probabilities=np.array(found), seconds=np.array(seconds))
