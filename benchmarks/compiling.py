"""What compiling costs: CPU seconds of first and second calls, each task in a fresh process.

`DOEBLIN_AGAINST=FOLDER` (the `src` of another version's checkout) measures that version beside.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1] / "src"

_SET_UP = """
import time, jax, jax.numpy as jnp, numpy as np, optax
from doeblin.chains import doeblin
from doeblin.kernels import Gibbs, IndependentSites
from doeblin.learning import FixedHorizon, Forward, Reversal, fit, likelihood
from doeblin.crf import SequenceLabeller

class Ring:
    def __init__(self, coupling): self.coupling = coupling
    def __call__(self, state, x=None): return self.coupling * (state == jnp.roll(state, 1)).sum()
jax.tree_util.register_pytree_node(Ring, lambda r: ((r.coupling,), None), lambda _, c: Ring(*c))

def build(p):
    return doeblin(Gibbs(Ring(p["coupling"]), 3), IndependentSites(p["logits"]), 0.1)

start = {"coupling": jnp.array(0.5), "logits": jnp.zeros((8, 3))}
chain, y = build(start), jnp.zeros(8, jnp.int32)
examples = [(None, np.full(8, i % 3)) for i in range(20)]
rng = np.random.default_rng(0)
sequences = [rng.normal(size=(5, 4)) for _ in range(20)]
labels = [["ab"[int(v > 0)] for v in s[:, 0]] for s in sequences]
def ends(labels, x): return jnp.sum(labels[0] == labels[1])[None]
def gradient(estimator):
    objective = likelihood(estimator, build)
    return jax.jit(jax.grad(lambda p, key: objective(key, p, (None, y)).log_likelihood))
jax.block_until_ready(jax.jit(lambda a: a + 1)(jnp.zeros(2)))
"""

# Name, what is made ready, and the call that is made twice.
TASKS = {
    "one gradient, Forward": ("g = gradient(Forward(FixedHorizon(0.1)))", "g(start, key)"),
    "one gradient, Reversal": ("g = gradient(Reversal(FixedHorizon(0.1)))", "g(start, key)"),
    "estimate, a new lambda each time": (
        "",
        "chain.estimate(key, lambda s: (s == 0).mean(), num_tours=1000).mean",
    ),
    "draw 1000": ("", "chain.draw(key, 1000).state"),
    "fit, 20 states": (
        "objective = likelihood(Reversal(FixedHorizon(0.1)), build)",
        "fit(objective, start, examples, optimiser=optax.sgd(0.1), epochs=2).parameters",
    ),
    "labeller, 20 sequences": (
        "",
        "SequenceLabeller(ends, kernel='gibbs', epochs=2).fit(sequences, labels).parameters_",
    ),
}

_MEASURE = """
{ready}
for number in range(2):
    key = jax.random.key(number)
    begun = time.process_time()
    jax.block_until_ready(jax.tree.leaves({call}))
    print("took", time.process_time() - begun)
"""


def run() -> dict[str, Any]:
    sources = {"doeblin": HERE}
    if other := os.environ.get("DOEBLIN_AGAINST"):
        sources["other"] = Path(other).resolve()
    rows = {}
    for name, (ready, call) in TASKS.items():
        program = _SET_UP + _MEASURE.format(ready=ready, call=call)
        rows[name] = {version: _measured(program, folder) for version, folder in sources.items()}
        cells = (
            f"{version}: {first:.1f} s, then {second:.2f} s"
            for version, (first, second) in rows[name].items()
        )
        print(f"{name:34} {'; '.join(cells)}", flush=True)
    return {"unit": "CPU seconds of the first and the second call", "tasks": rows}


def _measured(program: str, folder: Path) -> tuple[float, float]:
    environment = os.environ | {"PYTHONPATH": str(folder), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, text=True, capture_output=True, check=True
    )
    first, second = (
        float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("took")
    )
    return first, second
