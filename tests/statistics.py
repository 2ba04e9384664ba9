"""Statistical tests with fixed seeds: they fail for wrong laws, never by chance.

Thresholds are quantiles of the statistic's own distribution at a level of one in a million.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

LEVEL = 1e-6


def assert_follows(states: object, law: np.ndarray) -> None:
    """Pearson's test that independent `states` (numbers 0 … n-1) were drawn from `law`."""
    law = np.asarray(law, dtype=np.float64)
    counts = np.bincount(np.asarray(states).ravel(), minlength=len(law)).astype(np.float64)
    assert len(counts) == len(law), "states outside the law's range were drawn"
    total = counts.sum()
    impossible = law <= 0
    assert counts[impossible].sum() == 0, "states of probability zero were drawn"
    # Cells that expect too few counts are pooled, as the chi-square approximation needs.
    small = (law * total < 5) & ~impossible
    expected = np.append(law[~small & ~impossible], law[small].sum()) * total
    observed = np.append(counts[~small & ~impossible], counts[small].sum())
    expected, observed = expected[expected > 0], observed[expected > 0]
    assert len(expected) > 1 or (law > 0).sum() == 1, "the sample is too small to test this law"
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    limit = float(chi2.isf(LEVEL, max(len(expected) - 1, 1)))
    assert statistic <= limit, f"chi-square {statistic:.1f} exceeds {limit:.1f}"


def assert_symmetric(before: object, after: object, size: int) -> None:
    """Bowker's test that pairs (before, after) are as likely as (after, before)."""
    pairs = np.zeros((size, size))
    np.add.at(pairs, (np.asarray(before), np.asarray(after)), 1)
    upper = np.triu_indices(size, 1)
    total, difference = (pairs + pairs.T)[upper], (pairs - pairs.T)[upper]
    enough = total >= 10
    assert enough.any(), "the sample is too small to test symmetry"
    statistic = float(np.sum(difference[enough] ** 2 / total[enough]))
    limit = float(chi2.isf(LEVEL, enough.sum()))
    assert statistic <= limit, f"chi-square {statistic:.1f} exceeds {limit:.1f}"
