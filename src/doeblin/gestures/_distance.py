"""The edit distance, as Python; the paper's engine compiles it."""

from __future__ import annotations

from typing import Any


def changes(a: Any, b: Any, row: Any) -> int:
    """Insertions, deletions and substitutions from a to b; `row` is 0, 1, … len(b), and is lost."""
    for i in range(len(a)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            change = min(row[j + 1] + 1, row[j] + 1, diagonal + (a[i] != b[j]))
            diagonal = row[j + 1]
            row[j + 1] = change
    return row[len(b)]
