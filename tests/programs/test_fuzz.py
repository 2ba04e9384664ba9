"""Random programs against brute force. Nightly: `python -m tests.programs.program_fuzz`."""

import pytest

from .program_fuzz import disagreement


@pytest.mark.parametrize("block", range(5))
def test_verdicts_agree_with_brute_force(block):
    decided = 0
    for seed in range(20 * block, 20 * block + 20):
        problem, verdict = disagreement(seed, timeout=1.0)
        assert problem is None, f"seed {seed}: {problem}"
        decided += verdict != "UNKNOWN"
    assert decided >= 12


def test_machine_integers_agree_with_brute_force():
    for seed in range(500, 520):
        problem, _ = disagreement(seed, timeout=1.0, ints="overflow")
        assert problem is None, f"seed {seed}: {problem}"
