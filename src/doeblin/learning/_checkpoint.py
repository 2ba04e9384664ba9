"""Checkpoints: one safetensors file, written atomically, whose header holds JSON.

A file is either the old one or the new one, whenever the process is killed. It is checked by a
digest before anything in it is used, and holds no code (no pickle).
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .._errors import InputError, MissingExtraError, Place

_FORMAT = "doeblin-checkpoint-1"


def save(path: Path, trees: dict[str, Any], facts: dict[str, Any]) -> None:
    """Write named trees of arrays and some facts (JSON) to `path`, all or nothing."""
    serialise = _safetensors().save
    # Not `ascontiguousarray`, which makes vectors of scalars.
    tensors = {name: np.asarray(leaf, order="C") for name, leaf in _named(trees).items()}
    header = json.dumps(facts, sort_keys=True)
    metadata = {"format": _FORMAT, "facts": header, "digest": _digest(tensors, header)}
    content = serialise(tensors, metadata)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    # The new name must survive a power cut too, where folders can be synced.
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(path: Path, like: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `save` wrote, into trees of the same form as `like`; refuse anything else."""
    tensors, header = _read(path)
    expected = _named(like)
    _check_same(path, "arrays", sorted(tensors), sorted(expected))
    for name, leaf in expected.items():
        found = tensors[name]
        if found.shape != np.shape(leaf) or found.dtype != np.asarray(leaf).dtype:
            raise _refused(
                path,
                f"'{name}' is {found.dtype}{list(found.shape)} in it, but "
                f"{np.asarray(leaf).dtype}{list(np.shape(leaf))} in this run",
            )
    leaves = [tensors[name] for name in expected]
    structure = jax.tree.structure(like)
    return jax.tree.unflatten(structure, leaves), json.loads(header)


def check_facts(path: Path, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Refuse a checkpoint of another run."""
    for name, value in expected.items():
        if found.get(name) != value:
            raise _refused(path, f"it was written with {name} = {found.get(name)!r}, not {value!r}")


def remove_leftovers(path: Path) -> None:
    """Delete what a killed process left half written beside `path`."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        leftover.unlink(missing_ok=True)


def _read(path: Path) -> tuple[dict[str, np.ndarray], str]:
    content = path.read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + size])["__metadata__"]
        tensors = _safetensors().load(content)
        header, digest, form = metadata["facts"], metadata["digest"], metadata["format"]
    except Exception as error:
        # Whatever safetensors or JSON say about bytes that are not theirs.
        raise _refused(path, f"it is damaged or no checkpoint at all ({error})") from None
    if form != _FORMAT:
        raise _refused(path, f"its format is {form!r}, and this version writes {_FORMAT!r}")
    if digest != _digest(tensors, header):
        raise _refused(path, "it is damaged: its digest does not match its content")
    return tensors, header


def _named(trees: dict[str, Any]) -> dict[str, Any]:
    pairs = jax.tree_util.tree_flatten_with_path(trees)[0]
    return {jax.tree_util.keystr(path): leaf for path, leaf in pairs}


def _digest(tensors: dict[str, np.ndarray], header: str) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        leaf = tensors[name]
        digest.update(f"{name}{leaf.dtype}{leaf.shape}".encode())
        digest.update(leaf.tobytes())
    return digest.hexdigest()


def _check_same(path: Path, what: str, found: list[str], expected: list[str]) -> None:
    missing, extra = set(expected) - set(found), set(found) - set(expected)
    if missing or extra:
        parts = [f"lacks {', '.join(sorted(missing))}"] if missing else []
        parts += [f"has {', '.join(sorted(extra))} besides"] if extra else []
        raise _refused(path, f"its {what} are others: it {' and '.join(parts)}")


def _refused(path: Path, reason: str) -> InputError:
    return InputError(
        f"cannot use this file: {reason}. It was left as it is; give another path (or, to train "
        "afresh, move it away)",
        place=Place(str(path)),
    )


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ModuleNotFoundError:
        raise MissingExtraError("safetensors", "learning") from None
    return safetensors.numpy
