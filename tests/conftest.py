"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# Examples are the same at every run: a failure is a fact, not a matter of luck.
settings.register_profile(
    "doeblin",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("doeblin")
