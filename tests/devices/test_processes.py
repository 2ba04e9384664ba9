"""Several processes that share a mesh: they train as one, and when one dies nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jax.sharding import Mesh
from safetensors import safe_open

from doeblin.learning import Fit, fit

from ..learning.test_fit import data, start
from .test_mesh import noisy

ROOT = Path(__file__).parents[2]

WORKER = """
import sys, time
import jax
rank, port, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=rank)
assert jax.device_count() == 4 and jax.local_device_count() == 2
import numpy as np
from doeblin import InputError
from doeblin.learning import _checkpoint as checkpoints, fit
from tests.devices import test_processes as here

mesh = jax.make_mesh((4,), ("data",))
try:
    here.train(mesh, path, seed=rank)
except InputError as error:
    print(error, flush=True)
save = checkpoints.save

def slowly(path, trees, facts):
    assert rank == 0, "one process writes"
    save(path, trees, facts)
    if facts["run"]["steps"] > 4:
        time.sleep(0.5)

checkpoints.save = slowly
here.train(mesh, path)
"""
EPOCHS = 3


def train(mesh: Mesh | None = None, path: Path | None = None, seed: int = 3) -> Fit:
    options: dict[str, Any] = {
        "batch_size": 6,
        "epochs": EPOCHS,
        "checkpoint_every": 2,
        "seed": seed,
    }
    return fit(noisy, start(), data(32, 0), mesh=mesh, checkpoint=path, **options)


def worker(rank: int, port: int, path: Path) -> subprocess.Popen[str]:
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "PYTHONPATH": paths}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(rank), str(port), str(path)],
        env={**os.environ, **environment},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def steps_in(path: Path) -> int:
    with safe_open(path, "numpy") as file:
        return json.loads(file.metadata()["facts"])["run"]["steps"]


def test_two_processes_train_one_is_killed_and_one_goes_on(tmp_path: Path):
    path = tmp_path / "run.safetensors"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    processes = [worker(rank, port, path) for rank in range(2)]
    try:
        until = time.monotonic() + 120
        while not path.exists() or steps_in(path) < 6:
            if time.monotonic() > until or processes[0].poll() is not None:
                pytest.fail("no checkpoint comes: training ended, or hangs")
            time.sleep(0.02)
        processes[1].send_signal(signal.SIGKILL)
        assert processes[1].wait(timeout=10) == -signal.SIGKILL
        time.sleep(0.5)
    finally:
        for process in processes:
            process.kill()
    told = [process.communicate()[0] for process in processes]
    # Called with another seed each, both said so, and neither waited for the other.
    assert all("process 1 was given other data, other options" in text for text in told), told
    assert 6 <= steps_in(path) < 6 * EPOCHS
    resumed, whole = train(path=path), train()
    for name, leaf in whole.parameters.items():
        np.testing.assert_allclose(resumed.parameters[name], leaf, rtol=1e-5, atol=1e-6)
    assert resumed.steps == whole.steps == 6 * EPOCHS
    assert not list(tmp_path.glob(".*"))
