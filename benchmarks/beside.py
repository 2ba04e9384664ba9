"""The same field said in doeblin, THRML and pgmax: lines of code, labels, processor seconds.

Each function takes a noisy picture (log-odds of its pixels, halved) and the coupling of neighbours,
and returns P(1) of each pixel; nothing is kept from call to call but what libraries keep. pgmax
needs an older JAX: name a Python that has it in `DOEBLIN_PGMAX`, or its row is left out.
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


def by_doeblin(noisy: np.ndarray, coupling: float) -> Any:
    pixel = np.arange(noisy.size).reshape(noisy.shape)
    factors = {
        "seen": Factors(pixel.reshape(-1, 1), noisy.reshape(-1, 1)),
        "across": along(pixel, axis=1),
        "down": along(pixel, axis=0),
    }
    same = Table(coupling * np.eye(2))
    model = Model({"seen": Linear([[-1.0, 1.0]]), "across": same, "down": same})
    given = model.given(Graph.of(np.full(noisy.size, 2), factors))
    found = eqx.filter_jit(marginals)(jax.random.key(0), given, epsilon=0.1, num_walks=64)
    return found[:, 1].reshape(noisy.shape)


def by_thrml(noisy: np.ndarray, coupling: float) -> Any:
    height, width = noisy.shape
    pixel = np.array([[SpinNode() for _ in range(width)] for _ in range(height)])
    edges = [
        *zip(pixel[:, :-1].ravel(), pixel[:, 1:].ravel(), strict=True),
        *zip(pixel[:-1].ravel(), pixel[1:].ravel(), strict=True),
    ]
    nodes, weights = pixel.ravel().tolist(), jnp.full(len(edges), coupling / 2)
    model = IsingEBM(nodes, edges, jnp.asarray(noisy.ravel()), weights, jnp.array(1.0))
    black = np.indices(noisy.shape).sum(axis=0) % 2 == 0
    blocks = [Block(pixel[black].tolist()), Block(pixel[~black].tolist())]
    program = IsingSamplingProgram(model, blocks, clamped_blocks=[])
    schedule = SamplingSchedule(n_warmup=100, n_samples=10, steps_per_sample=5)

    def one(key: Any) -> Any:
        start_key, walk_key = jax.random.split(key)
        start = hinton_init(start_key, model, blocks, ())
        return sample_states(walk_key, program, schedule, start, [], [Block(nodes)])[0]

    states = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), 64))
    return states.mean(axis=(0, 1)).reshape(noisy.shape)


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
            return {"lines": len(own), "found": out["probabilities"], "seconds": out["seconds"]}


def timed(function: Any, noisy: np.ndarray) -> dict[str, Any]:
    found, seconds = [], []
    for picture in noisy:
        began = time.process_time()
        found.append(np.asarray(jax.block_until_ready(function(picture, COUPLING))))
        seconds.append(time.process_time() - began)
    return {"lines": lines(function), "found": np.array(found), "seconds": np.array(seconds)}


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
            "wrong": float(np.mean((case["found"] > 0.5) != truth)),
            "first_cpu_s": float(case["seconds"][0]),
            "later_cpu_s": float(np.median(case["seconds"][1:])),
        }
        print(f"  {name}: {rows[name]}", flush=True)
    return {"side": SIDE, "coupling": COUPLING, "pictures": COUNT, "rows": rows}
