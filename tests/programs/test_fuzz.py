"""Random programs against referees that share no code with doeblin. `make fuzz` does many more."""

import pytest

from .fuzz.campaign import Tally, judge
from .fuzz.clauses import judge_clauses
from .fuzz.metamorphic import opposite, same_truth
from .fuzz.referee import compilers

compiled = pytest.mark.skipif("gcc" not in compilers(), reason="the truth comes from gcc")


@compiled
def test_verdicts_agree_with_compilers():
    total = Tally()
    for first in range(0, 200, 50):
        total.add(judge(range(first, first + 50), timeout=0.5, levels=["-O2"], repeat=False))
    assert not total.wrong
    assert total.outcomes["SAFE"] >= 15 and total.outcomes["UNSAFE"] >= 15
    assert total.outcomes["compilers differ"] == 0


@compiled
def test_rewritings_mean_the_same(tmp_path):
    assert same_truth(range(300, 306), tmp_path) == []


@compiled
def test_no_rewriting_turns_a_verdict_around():
    wrong, pairs = opposite(range(400, 406), timeout=0.5)
    assert not wrong
    assert pairs >= 15


def test_clauses_agree_with_enumeration():
    tally = judge_clauses(range(120), timeout=0.4)
    assert not tally.wrong
    for kind in ("horn SAFE", "horn UNSAFE", "sygus SAFE", "sygus UNSAFE", "mutant refused"):
        assert tally.outcomes[kind] >= 3, tally.outcomes
