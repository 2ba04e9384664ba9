"""The state of a training in a file, so that an interrupted one goes on exactly where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .... import _checkpoint as checkpoints


class Checkpoint(NamedTuple):
    """Where to keep the state, what training it is of, and every how many steps to write it."""

    path: Path
    told: dict[str, Any]
    every: int

    def write(self, step: int, tensors: dict[str, NDArray]) -> None:
        """Keep the state after so many steps. A crash while writing leaves the one before."""
        arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
        checkpoints.save(self.path, arrays, {"training": self.told, "step": step})

    def read(self) -> tuple[int, dict[str, NDArray]] | None:
        """The steps done and the state, or None if there is no file."""
        checkpoints.remove_leftovers(self.path)
        if not self.path.exists():
            return None
        tensors, facts = checkpoints.load(self.path)
        checkpoints.check_facts(self.path, facts.get("training", {}), self.told)
        return int(facts["step"]), tensors

    def due(self, step: int, steps: int) -> bool:
        """Whether to write after this many of all steps."""
        return step % self.every == 0 or step == steps
