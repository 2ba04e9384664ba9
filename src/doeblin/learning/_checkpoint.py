"""Trees of arrays in checkpoints, each array by its place in the tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import _checkpoint as checkpoints


def save(path: Path, trees: dict[str, Any], facts: dict[str, Any]) -> None:
    """Write named trees of arrays and some facts (JSON) to `path`, all or nothing; its folder
    is made if it is not there."""
    # Not `ascontiguousarray`, which makes vectors of scalars.
    tensors = {name: np.asarray(leaf, order="C") for name, leaf in _named(trees).items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoints.save(path, tensors, facts)


def load(path: Path, like: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `save` wrote, into trees of the same form as `like`; refuse anything else."""
    tensors, facts = checkpoints.load(path)
    expected = _named(like)
    _check_same(path, sorted(tensors), sorted(expected))
    for name, leaf in expected.items():
        found = tensors[name]
        if found.shape != np.shape(leaf) or found.dtype != np.asarray(leaf).dtype:
            raise checkpoints.refused(
                path,
                f"'{name}' is {found.dtype}{list(found.shape)} in it, but "
                f"{np.asarray(leaf).dtype}{list(np.shape(leaf))} in this run",
            )
    leaves = [tensors[name] for name in expected]
    return jax.tree.unflatten(jax.tree.structure(like), leaves), facts


def _named(trees: dict[str, Any]) -> dict[str, Any]:
    pairs = jax.tree_util.tree_flatten_with_path(trees)[0]
    return {jax.tree_util.keystr(path): leaf for path, leaf in pairs}


def _check_same(path: Path, found: list[str], expected: list[str]) -> None:
    missing, extra = set(expected) - set(found), set(found) - set(expected)
    if missing or extra:
        parts = [f"lacks {', '.join(sorted(missing))}"] if missing else []
        parts += [f"has {', '.join(sorted(extra))} besides"] if extra else []
        raise checkpoints.refused(path, f"its arrays are others: it {' and '.join(parts)}")
