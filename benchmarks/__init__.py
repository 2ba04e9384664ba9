"""Benchmarks: peers run beside us in one run, as ratios. Never part of the test suite."""
