"""The same work on 1, 2, 4 and 8 devices of the host, and in two processes.

Wall time tells what a quiet machine with as many cores gains; seconds of CPU, which neighbours do
not change, tell what the spreading itself costs. Bytes are counted in the compiled program.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

DEVICES = (1, 2, 4, 8)
STATES, WALKS, BATCH, DRAWS = 50, 16, 256, 20_000
_SIZES = {"f32": 4, "s32": 4, "u32": 4, "pred": 1, "f64": 8, "u8": 1}


def run() -> dict:
    rows = [_start([(count, 0, 1, "")])[0] for count in DEVICES]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    rows.append(_start([(1, 0, 2, address), (1, 1, 2, address)])[0])
    for row in rows:
        print(json.dumps(row), flush=True)
    return {"states": STATES, "walks": WALKS, "batch": BATCH, "draws": DRAWS, "rows": rows}


def _start(parts: list[tuple[int, int, int, str]]) -> list[dict]:
    """One process for each (devices of it, its number, how many processes, coordinator)."""
    running = []
    for devices, *rest in parts:
        flags = f"--xla_force_host_platform_device_count={devices}"
        arguments = [sys.executable, "-m", "benchmarks.scale", *map(str, rest)]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
        running.append(
            subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)
        )
    return [json.loads(each.communicate()[0].splitlines()[-1]) for each in running]


def _measure(number: int, processes: int, coordinator: str) -> dict:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    if processes > 1:
        jax.distributed.initialize(coordinator, processes, number)
    from doeblin._mesh import checked_mesh, compiled, everywhere, using
    from doeblin.chains import doeblin
    from doeblin.kernels import FiniteKernel, FiniteRestart
    from doeblin.learning import FixedHorizon, Reversal, likelihood
    from doeblin.learning import _step as steps
    from doeblin.learning._data import Batch

    rng = np.random.default_rng(0)
    mesh = checked_mesh(jax.make_mesh((jax.device_count(),), ("data",)))
    weights = rng.random((STATES, STATES))
    law = FiniteRestart.from_law(np.full(STATES, 1 / STATES))
    matrix = weights / weights.sum(axis=1, keepdims=True)
    chain = doeblin(FiniteKernel.from_matrix(matrix), law, 0.05)

    def draws(key: Any) -> Any:
        return chain.draw(key, DRAWS, mesh=mesh).state

    def build(p: Any) -> Any:
        return doeblin(FiniteKernel(p["A"]), FiniteRestart(p["u"]), 0.2)

    objective = likelihood(Reversal(FixedHorizon(0.2, steps=16), num_walks=WALKS), build)
    learned = everywhere(mesh, {"A": jnp.zeros((STATES, STATES)), "u": jnp.zeros(STATES)})
    solver = steps.Solver(optax.adagrad(0.1))
    state = everywhere(mesh, solver.functions.init(learned))
    ys = rng.integers(STATES, size=BATCH).astype(np.int32)
    batch = Batch((None, ys), np.ones(BATCH, np.float32))
    fixed = jax.tree.map(lambda _: None, learned)
    training = steps.Training(objective, fixed, solver, None, mesh)

    def step(key: Any) -> Any:
        with using(mesh):
            return steps.train_step(training, learned, state, key, batch, None)[0]

    key = everywhere(mesh, jax.random.key(0))
    with using(mesh):
        rows = steps.Rows(batch.examples, batch.weights, None)
        model = (objective, learned, fixed, solver, state, None)
        compile_it: Any = compiled
        found, programs = (), []
        for program in (steps.slopes, steps.gathered, steps.updated):
            programs.append(compile_it.lower(program, *found, model, key, rows, mesh))
            found = (compile_it(program, *found, model, key, rows, mesh),)
        moved = _moved("\n".join(each.compile().compiled.as_text() for each in programs))
    parameters = sum(leaf.size for leaf in jax.tree.leaves(learned))
    return {
        "devices": jax.device_count(),
        "processes": processes,
        "draws": _timed(draws),
        "step": _timed(step),
        "parameters": parameters,
        "bytes_a_step": moved,
    }


def _timed(work: Callable[[Any], Any], rounds: int = 5) -> dict[str, float]:
    import jax

    wall, cpu = [], []
    for number in range(rounds + 1):
        key = jax.random.key(number)
        began, used = time.perf_counter(), _cpu()
        jax.block_until_ready(work(key))
        if number:
            wall.append(time.perf_counter() - began)
            cpu.append(_cpu() - used)
    return {"wall": statistics.median(wall), "cpu": statistics.median(cpu)}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _moved(program: str) -> dict[str, int]:
    """Bytes of the results of each kind of collective operation in a compiled program."""
    found: dict[str, int] = {}
    kinds = "all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter"
    for shapes, kind in re.findall(rf"= (.*?) ({kinds})(?:-start)?\(", program):
        for dtype, sides in re.findall(r"(\w+)\[([\d,]*)\]", shapes):
            size = _SIZES[dtype]
            for side in filter(None, sides.split(",")):
                size *= int(side)
            found[kind] = found.get(kind, 0) + size
    return found


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
