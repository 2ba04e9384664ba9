"""The same field said in doeblin, THRML and pgmax: lines of code, labels, processor seconds.

Each function takes noisy pictures (log-odds of their pixels, halved) and the neighbours' coupling,
and returns P(1) of each pixel. pgmax needs an older JAX: name a Python that has it in
`DOEBLIN_PGMAX`, or its row is left out.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from thrml import Block, SamplingSchedule, SpinNode, sample_states
from thrml.models import IsingEBM, IsingSamplingProgram, hinton_init

from doeblin.factors import Factors, Graph, Linear, Model, Table, along, marginals

from .denoising import NOISE, SIDE, pictures

COUPLING, COUNT = 1.2, 6
KEY = jax.random.key(0)


def by_doeblin(pictures: np.ndarray, coupling: float) -> list[Any]:
    pixel = np.arange(pictures[0].size).reshape(pictures[0].shape)
    same = Table(coupling * np.eye(2))
    model = Model({"seen": Linear([[-1.0, 1.0]]), "across": same, "down": same})
    found = []
    for noisy in pictures:
        factors = {
            "seen": Factors(pixel.reshape(-1, 1), noisy.reshape(-1, 1)),
            "across": along(pixel, axis=1),
            "down": along(pixel, axis=0),
        }
        given = model.given(Graph.of(np.full(noisy.size, 2), factors))
        found.append(eqx.filter_jit(marginals)(KEY, given, epsilon=0.1, num_walks=64)[:, 1])
    return found


def by_thrml(pictures: np.ndarray, coupling: float) -> list[Any]:
    height, width = pictures[0].shape
    pixel = np.array([[SpinNode() for _ in range(width)] for _ in range(height)])
    across = zip(pixel[:, :-1].ravel(), pixel[:, 1:].ravel(), strict=True)
    down = zip(pixel[:-1].ravel(), pixel[1:].ravel(), strict=True)
    nodes, edges = pixel.ravel().tolist(), [*across, *down]
    weights = jnp.full(len(edges), coupling / 2)
    black = np.indices((height, width)).sum(axis=0) % 2 == 0
    blocks = [Block(pixel[black].tolist()), Block(pixel[~black].tolist())]
    schedule = SamplingSchedule(n_warmup=100, n_samples=10, steps_per_sample=5)

    def one(key: Any, noisy: Any) -> Any:
        model = IsingEBM(nodes, edges, noisy.ravel(), weights, jnp.array(1.0))
        program = IsingSamplingProgram(model, blocks, clamped_blocks=[])
        start_key, walk_key = jax.random.split(key)
        start = hinton_init(start_key, model, blocks, ())
        return sample_states(walk_key, program, schedule, start, [], [Block(nodes)])[0]

    keys = jax.random.split(KEY, 64)
    chains = jax.jit(jax.vmap(one, in_axes=(0, None)))
    return [chains(keys, noisy).mean(axis=(0, 1)) for noisy in pictures]


def lines(function: Any) -> int:
    """Lines of the body, blank ones left out."""
    return sum(bool(line.strip()) for line in inspect.getsource(function).splitlines()) - 1


def pgmax(noisy: np.ndarray, python: str) -> dict[str, Any]:
    script = Path(__file__).with_name("_by_pgmax.py")
    own = script.read_text().split("def by_pgmax")[1].split("\n\n\n")[0].splitlines()[1:]
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/noisy.npy", noisy)
        command = [python, str(script), f"{folder}/noisy.npy", str(COUPLING), f"{folder}/out.npz"]
        subprocess.run(command, check=True)
        with np.load(f"{folder}/out.npz") as out:
            return {"lines": len(own), "found": out["found"], "seconds": out["seconds"]}


def timed(function: Any, noisy: np.ndarray) -> dict[str, Any]:
    """What is found, and the processor seconds of one picture and of all."""
    seconds, found = [], []
    for some in (noisy[:1], noisy):
        began = time.process_time()
        found = [np.asarray(each) for each in function(some, COUPLING)]
        seconds.append(time.process_time() - began)
    return {"lines": lines(function), "found": np.array(found), "seconds": seconds}


def run() -> dict[str, Any]:
    graphs, labels = pictures(COUNT, seed=1)
    seen = np.array([graph.kinds["seen"].features[:, 0] for graph in graphs])
    noisy = (seen / NOISE**2).reshape(-1, SIDE, SIDE).astype(np.float32)
    truth = np.array(labels).reshape(noisy.shape)
    cases = {"doeblin": timed(by_doeblin, noisy), "THRML": timed(by_thrml, noisy)}
    if python := os.environ.get("DOEBLIN_PGMAX"):
        cases["pgmax"] = pgmax(noisy, python)
    else:
        print("  pgmax is left out: name a Python that has it in DOEBLIN_PGMAX", flush=True)
    rows = {}
    for name, case in cases.items():
        rows[name] = {
            "lines": case["lines"],
            "wrong": float(np.mean((case["found"].reshape(truth.shape) > 0.5) != truth)),
            "one_cpu_s": float(case["seconds"][0]),
            "all_cpu_s": float(case["seconds"][1]),
        }
        print(f"  {name}: {rows[name]}", flush=True)
    return {"side": SIDE, "coupling": COUPLING, "pictures": COUNT, "rows": rows}
