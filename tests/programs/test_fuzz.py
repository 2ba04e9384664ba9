"""Random C programs against compilers, and rewritings of them. `make fuzz` does many more."""

import pytest

from .fuzz.campaign import Tally, judge
from .fuzz.metamorphic import opposite, same_truth
from .fuzz.referee import compilers

pytestmark = pytest.mark.skipif("gcc" not in compilers(), reason="the truth comes from gcc")


def test_verdicts_agree_with_compilers():
    total = Tally()
    for first in range(0, 200, 50):
        total.add(judge(range(first, first + 50), timeout=0.6, levels=["-O2"]))
    assert not total.wrong
    assert total.outcomes["SAFE"] >= 30 and total.outcomes["UNSAFE"] >= 30
    assert total.outcomes["compilers differ"] == 0


def test_rewritings_mean_the_same(tmp_path):
    assert same_truth(range(300, 306), tmp_path) == []


def test_no_rewriting_turns_a_verdict_around():
    wrong, pairs = opposite(range(400, 406), timeout=0.6)
    assert not wrong
    assert pairs >= 15
