"""Benchmarks: peers run beside us in one run, and ratios are reported. Not part of the test suite."""
