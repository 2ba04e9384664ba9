"""Settings for all tests."""

import gc
import os
from importlib.metadata import version

from hypothesis import HealthCheck, settings

# Tests compile much and run little: less optimisation of machine code saves a third of the time,
# XLA's older emitters of fused loops 40 % of what is left. A flag that XLA does not know ends the
# process, so that it is given to the versions only with which it was tried.
FLAGS = ["--xla_backend_optimization_level=0"]
if version("jaxlib").startswith("0.10."):
    FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))

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
