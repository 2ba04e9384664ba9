"""Settings for all tests."""

import functools
import gc
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# Tests compile much and run little: less optimisation of machine code saves a third of the time,
# XLA's older emitters of fused loops 40 % of what is left. A flag that XLA does not know ends the
# process, so that it is given to the versions only with which it was tried.
FLAGS = ["--xla_backend_optimization_level=0"]
# For tests of meshes; whatever has no mesh uses the first device.
FLAGS += ["--xla_force_host_platform_device_count=4"]
if version("jaxlib").startswith("0.10."):
    # Programs are small: what it costs to divide their code among threads is more than it saves.
    FLAGS += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]
# What has fewer axes is never repeated along the others unless it says so.
os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
os.environ["XLA_FLAGS"] = " ".join([*FLAGS, os.environ.get("XLA_FLAGS", "")])

# Traces are many small objects that live long: looking for circles among them is dear.
gc.set_threshold(100_000, 50, 100)

# Examples are the same at every run: a failure is a fact, not a matter of luck.
settings.register_profile(
    "doeblin",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("doeblin")

if os.environ.get("DOEBLIN_CHECK_SHAPES"):
    from . import shapes

    shapes.install()


@pytest.fixture(autouse=True)
def without_limits() -> Iterator[None]:
    """A command that ran in this process limited the solver's memory for good, as a process of its
    own may."""
    yield
    if "z3" in sys.modules:
        sys.modules["z3"].set_param("memory_max_size", 0)


# What is dear to begin and shared by several files: one worker has them all.
SHARED = ("tests/serve/", "tests/gestures/decoder/")
# What takes longest comes first, so that no worker goes on alone at the end.
FIRST = (
    "tests/serve/",
    "tests/test_docs.py",
    "tests/formulas/engine/",
    "tests/gestures/decoder/",  # what the server has compiled by then, and a page uses later
    "tests/programs/frontends/test_c_semantics.py",
    "tests/kernels/test_contract.py",
    "tests/chains/test_chain.py",
    "tests/programs/test_fuzz.py",
    "tests/learning/test_exactness.py",
    "tests/crf/",
    "tests/programs/test_corpus.py",
    "tests/chains/",
    "tests/gestures/paper/",
    "tests/factors/",
    "tests/devices/",
    "tests/kernels/",
    "tests/learning/",
    "tests/programs/test_",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        found = (n for n, start in enumerate(FIRST) if item.nodeid.startswith(start))
        return next(found, len(FIRST))

    items.sort(key=place)


def pytest_collectstart() -> None:
    """JAX makes a context of MLIR for each program, with every dialect: a third of what a small
    program costs. All may be written in one: the machine code is the same."""
    mlir = sys.modules.get("jax._src.interpreters.mlir")
    if mlir and version("jax").startswith("0.10."):
        mlir.make_ir_context = _once(mlir.make_ir_context)


@functools.cache
def _once(function: Any) -> Any:
    return function if hasattr(function, "cache_info") else functools.cache(function)


def pytest_sessionfinish() -> None:
    """What pytest collects at its very end, five times over, is collected once."""
    gc.collect()
    gc.freeze()


class _Scheduling(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return next(filter(nodeid.startswith, SHARED), super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """As `--dist loadfile`, and the files of one folder together that share a server or a model."""
    config.option.loadscopereorder = False  # not by the number of tests
    return _Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
