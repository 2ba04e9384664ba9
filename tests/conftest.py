"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings

# Tests compile much and run little: less optimisation of machine code saves a third of the time.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

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
