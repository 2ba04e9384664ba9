"""Checkpoints: one safetensors file, written atomically, whose header holds JSON.

A file is either the old one or the new one, whenever the process is killed. It is checked by a
digest before anything in it is used, and holds no code (no pickle).
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import InputError, MissingExtraError, Place
from ._files import write

_FORMAT = "doeblin-checkpoint-1"


def save(path: Path, tensors: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    """Write arrays and some facts (JSON) to `path`, all or nothing."""
    header = json.dumps(facts, sort_keys=True)
    metadata = {"format": _FORMAT, "facts": header, "digest": _digest(tensors, header)}
    content = _safetensors().save(tensors, metadata)
    write(path, lambda file: file.write(content))


def load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the facts that `save` wrote; anything else is refused."""
    if not path.is_file():
        raise refused(path, "it is not a regular file")
    content = path.read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + size])["__metadata__"]
        tensors = _safetensors().load(content)
        form = metadata.get("format")
        header, digest = metadata.get("facts", ""), metadata.get("digest")
    except Exception as error:
        # Whatever safetensors or JSON say about bytes that are not theirs.
        raise refused(path, f"it is damaged or no checkpoint at all ({error})") from None
    if form is None:
        raise refused(path, "it is no checkpoint, or one of an older version: it names no format")
    if form != _FORMAT:
        raise refused(path, f"its format is {form!r}, and this version writes {_FORMAT!r}")
    if digest != _digest(tensors, header):
        raise refused(path, "it is damaged: its digest does not match its content")
    return tensors, json.loads(header)


def check_facts(path: Path, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Refuse a checkpoint of another run."""
    for name, value in expected.items():
        if found.get(name) != value:
            raise refused(
                path,
                "it is of another training: it was written with "
                f"{name} = {found.get(name)!r}, not {value!r}",
            )


def remove_leftovers(path: Path) -> None:
    """Delete what a killed process left half written beside `path`, and not what one that lives
    is just writing."""
    path = Path(os.path.realpath(path))  # where it is written
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        if not _lives(leftover.name.split(".")[-2]):
            leftover.unlink(missing_ok=True)


def _lives(number: str) -> bool:
    """Is there a process of this number here?"""
    try:
        os.kill(int(number), 0)  # asks, and sends nothing
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def refused(path: Path, reason: str) -> InputError:
    return InputError(
        f"cannot use this file: {reason}. It was left as it is; give another path (or, to train "
        "afresh, move it away)",
        place=Place(str(path)),
    )


def _digest(tensors: dict[str, np.ndarray], header: str) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        leaf = tensors[name]
        digest.update(f"{name}{leaf.dtype}{leaf.shape}".encode())
        digest.update(leaf.tobytes())
    return digest.hexdigest()


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ModuleNotFoundError:
        raise MissingExtraError("safetensors", "learning") from None
    return safetensors.numpy
