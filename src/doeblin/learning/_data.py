"""Data of uneven lengths in few shapes, in an order that a seed determines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from .._errors import InputError
from .._numbers import whole


def pair(example: Any) -> tuple[Any, Any]:
    """An example as (x, y)."""
    if isinstance(example, tuple | list) and len(example) == 2:
        return example[0], example[1]
    shape = getattr(example, "shape", None)
    found = repr(example) if shape is None else f"an array of shape {shape}"
    raise InputError(
        f"an example is a pair (x, y), with None for x where there is no input; this is {found:.80}"
    )


@dataclass(frozen=True)
class Batch:
    """Some examples stacked along a leading axis. Those of weight 0 fill the batch up."""

    examples: Any
    weights: np.ndarray


class Dataset:
    """Examples in buckets of equal shapes.

    An example is any pytree of arrays, such as a pair (x, y). If lengths differ, `length(example)`
    says how long one is and `pad(example, length)` makes it longer (keeping, in what it returns,
    how long it truly is). Lengths are rounded up to one of at most `num_buckets`, chosen so that
    the buckets hold about as many examples each.
    """

    def __init__(
        self,
        examples: Sequence[Any],
        *,
        length: Callable[[Any], int] | None = None,
        pad: Callable[[Any, int], Any] | None = None,
        num_buckets: int = 4,
    ):
        if not len(examples):
            raise InputError("there are no examples to learn from")
        if (length is None) != (pad is None):
            raise InputError("`length` and `pad` go together: give both, or neither")
        num_buckets = whole("num_buckets", num_buckets, least=1)
        groups: dict[Any, list[Any]] = {}
        numbers: dict[Any, list[int]] = {}
        if length is None or pad is None:
            groups[0] = list(examples)
            numbers[0] = list(range(len(examples)))
        else:
            lengths = np.array([length(example) for example in examples])
            sizes = bucket_sizes(lengths, num_buckets)
            for number, (example, size) in enumerate(zip(examples, sizes, strict=True)):
                groups.setdefault(int(size), []).append(pad(example, int(size)))
                numbers.setdefault(int(size), []).append(number)
        self.buckets = [_stacked(groups[size]) for size in sorted(groups)]
        self.sizes = [len(groups[size]) for size in sorted(groups)]
        # Where each example of each bucket stands in what was given, to name it by.
        self.numbers = [np.array(numbers[size]) for size in sorted(groups)]

    def __len__(self) -> int:
        return sum(self.sizes)

    def batches(self, batch_size: int, order: np.random.Generator | None = None) -> list[Any]:
        """Where each batch comes from: (bucket, indices) pairs; shuffled by `order` if given."""
        places = []
        for bucket, size in enumerate(self.sizes):
            indices = np.arange(size) if order is None else order.permutation(size)
            places += [(bucket, indices[i : i + batch_size]) for i in range(0, size, batch_size)]
        if order is not None:
            places = [places[i] for i in order.permutation(len(places))]
        return places

    def get(self, place: tuple[int, np.ndarray], batch_size: int) -> Batch:
        """One batch, filled up to its full size so that shapes stay few."""
        bucket, indices = place
        missing = batch_size - len(indices)
        filled = np.concatenate([indices, np.repeat(indices[:1], missing)])
        weights = np.concatenate([np.ones(len(indices)), np.zeros(missing)]).astype(np.float32)
        return Batch(jax.tree.map(lambda leaf: leaf[filled], self.buckets[bucket]), weights)

    def all_batches(self, batch_size: int) -> Iterator[Batch]:
        for place in self.batches(batch_size):
            yield self.get(place, batch_size)

    def check_numbers(self) -> None:
        """Refuse NaN; infinite numbers may be meant (a score of -inf rules something out)."""
        for bucket, numbers in zip(self.buckets, self.numbers, strict=True):
            for path, leaf in jax.tree_util.tree_leaves_with_path(bucket):
                if not np.issubdtype(leaf.dtype, np.inexact) or not np.isnan(leaf).any():
                    continue
                where = np.argwhere(np.isnan(leaf))[0]
                raise InputError(
                    f"example {numbers[where[0]]} has NaN at {jax.tree_util.keystr(path) or 'it'}"
                    f"{where[1:].tolist() or ''}; fill it in, or leave the example out"
                )

    def fingerprint(self) -> str:
        """A digest of all data, to recognise them by."""
        digest = hashlib.sha256()
        for bucket in self.buckets:
            leaves, structure = jax.tree.flatten(bucket)
            digest.update(str(structure).encode())
            for leaf in leaves:
                digest.update(f"{leaf.dtype}{leaf.shape}".encode())
                digest.update(np.ascontiguousarray(leaf).tobytes())
        return digest.hexdigest()


def bucket_sizes(lengths: np.ndarray, num_buckets: int) -> np.ndarray:
    """Each length rounded up to one of at most `num_buckets` lengths that occur.

    >>> bucket_sizes(np.array([1, 2, 3, 4, 9]), 2).tolist()
    [3, 3, 3, 9, 9]
    """
    if lengths.min() < 1:
        raise InputError(f"an example has length {lengths.min()}; all must be at least 1")
    ranks = np.ceil(np.linspace(0, len(lengths), num_buckets + 1)[1:]).astype(int) - 1
    edges = np.unique(np.sort(lengths)[ranks])
    return edges[np.searchsorted(edges, lengths)]


def _stacked(examples: list[Any]) -> Any:
    try:
        found = jax.tree.map(lambda *leaves: np.stack([np.asarray(x) for x in leaves]), *examples)
    except ValueError as error:
        raise InputError(
            f"examples cannot be stacked ({error}); if their lengths differ, give `length` and "
            "`pad`"
        ) from None
    for leaf in jax.tree.leaves(found):
        if leaf.dtype.kind in "OSUmM":
            raise InputError(
                f"examples hold '{leaf.ravel()[0]!s:.40}', which is no number: encode it first"
            )
    return found
