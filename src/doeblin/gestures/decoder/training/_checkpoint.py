"""The state of a training in a file, so that an interrupted one goes on exactly where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray
from safetensors.numpy import save_file

from ...._errors import InputError, Place
from .._model import read_tensors

_FORMAT = "doeblin-gestures-checkpoint-2"


class Checkpoint(NamedTuple):
    """Where to keep the state, what training it is of, and every how many steps to write it."""

    path: Path
    told: dict[str, Any]
    every: int

    def write(self, step: int, tensors: dict[str, NDArray]) -> None:
        """Keep the state after so many steps. A crash while writing leaves the one before."""
        header = json.dumps({"format": _FORMAT, "told": self.told, "step": step})
        aside = Path(f"{self.path}.new")
        try:
            save_file(tensors, str(aside), {"doeblin": header})
            aside.replace(self.path)
        except OSError as error:
            raise InputError(
                f"cannot write the checkpoint: {error}", place=Place(str(self.path))
            ) from None

    def read(self) -> tuple[int, dict[str, NDArray]] | None:
        """The steps done and the state, or None if there is no file."""
        if not self.path.exists():
            return None
        tensors, header = read_tensors(self.path)
        if header.get("format") != _FORMAT or header.get("told") != self.told:
            raise InputError(
                "this checkpoint is of another training (other data, lexicon or options); remove "
                "it or name another one",
                place=Place(str(self.path)),
            )
        return int(header["step"]), tensors

    def due(self, step: int, steps: int) -> bool:
        """Whether to write after this many of all steps."""
        return step % self.every == 0 or step == steps
