"""The model once more, by enumeration: slow, plain, and written apart from the engine."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from doeblin.gestures.data import Layout, Lexicon

# Six keys and words over them, with doubled letters and words that are prefixes of others.
LAYOUT = Layout.from_rows(["abc", "def"], [0, 0.3], name="six")
WORDS = {"ab": 5.0, "abe": 3.0, "add": 1.0, "ad": 2.0, "face": 2.5, "fade": 1.5, "bee": 0.5}
LEXICON = Lexicon.from_pairs(WORDS.items())


def alignments(length: int, count: int):
    """Every alignment of a word of `length` merged letters with `count` frames.

    An alignment names for each frame what it is and of which letter: ("hit", j), ("dwell", j) or
    ("transit", j), the last being on the way to letter j.
    """
    kinds = [(kind, j) for j in range(length) for kind in ("transit", "hit", "dwell")]

    def follows(before, after):
        kind, j = after
        if before is None:
            return j == 0 and kind in ("transit", "hit")
        past, i = before
        if past == "transit":
            return i == j and kind in ("transit", "hit")
        return (i == j and kind == "dwell") or (j == i + 1 and kind in ("transit", "hit"))

    def extend(prefix):
        if len(prefix) == count:
            if prefix[-1] in (("hit", length - 1), ("dwell", length - 1)):
                yield prefix
            return
        for step in kinds:
            if follows(prefix[-1] if prefix else None, step):
                yield from extend([*prefix, step])

    yield from extend([])


def frame_labels(keys, alignment, num_keys):
    """The potentials that an alignment uses: (kind, indices without the frame), frame by frame."""
    for kind, j in alignment:
        if kind == "transit":
            yield "transit", (keys[j - 1] if j else num_keys, keys[j])
        else:
            yield kind, (keys[j],)


def alignment_mass(keys, alignment, potentials):
    """The product of the potentials that an alignment uses."""
    labels = frame_labels(keys, alignment, len(potentials["hit"]))
    return np.prod([potentials[kind][(*index, i)] for i, (kind, index) in enumerate(labels)])


def mass(keys, potentials, count):
    """m(word): the sum over alignments."""
    return sum(
        alignment_mass(keys, alignment, potentials) for alignment in alignments(len(keys), count)
    )


def counts(keys, potentials, count):
    """Mass of alignments by the potential that they use in a frame."""
    num_keys = len(potentials["hit"])
    totals = {kind: np.zeros_like(values) for kind, values in potentials.items()}
    for alignment in alignments(len(keys), count):
        labels = list(frame_labels(keys, alignment, num_keys))
        weight = alignment_mass(keys, alignment, potentials)
        for i, (kind, index) in enumerate(labels):
            totals[kind][(*index, i)] += weight
    return totals


def strings(num_keys: int, longest: int):
    """All strings of letters in which no letter follows itself."""
    for length in range(1, longest + 1):
        for keys in product(range(num_keys), repeat=length):
            if all(a != b for a, b in pairwise(keys)):
                yield keys
