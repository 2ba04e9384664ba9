"""What people suggest: hints, and invariants in the program's own annotations."""

from __future__ import annotations

from collections.abc import Sequence

from ...linear import Dnf
from ._context import Context


def hints(context: Context) -> Sequence[Dnf]:
    """As they are; a wrong one is dropped like any other candidate."""
    return context.hints
