"""From sequences of feature dictionaries, or arrays, and labels to padded arrays."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import InputError
from ._exact import Places
from ._restart import Observed, SparseFeatures


class Encoder:
    """Numbers features and labels as they occur in the training data.

    A sequence is an array of shape (length, features), or a list with a dictionary (or a list of
    names) for each place, as CRFsuite's wrappers take them: string values are indicators, numbers
    are values. Features that training has not seen are left out.
    """

    def __init__(self, sequences: Sequence[Any], labels: Sequence[Sequence[Any]]):
        check_aligned(sequences, labels)
        self.classes = _classes(labels)
        self.numbers = {label: number for number, label in enumerate(self.classes)}
        self.dense = _is_dense(sequences[0])
        self.names: dict[str, int] = {}
        self.num_features = 0
        if self.dense:
            shape = np.shape(sequences[0])
            if len(shape) != 2:
                raise InputError(
                    f"a sequence of shape {shape} needs features at each place: an array of shape "
                    "(length, features), or a list of dictionaries"
                )
            self.num_features = shape[1]

    def places(self, sequences: Sequence[Any], *, training: bool = False) -> Places:
        """The features of all places; in training, they get their numbers here."""
        starts = np.concatenate([[0], np.cumsum([len(each) for each in sequences])])
        starts = starts.astype(np.int64)
        none = np.zeros(0, np.float32)
        if self.dense:
            rows = [self._rows(sequence, index) for index, sequence in enumerate(sequences)]
            dense = np.concatenate([np.zeros((0, self.num_features), np.float32), *rows])
            return Places(starts, dense, np.zeros(1, np.int64), none.astype(np.int32), none)
        names, first = self.names, array("q", [0])
        numbers, values = array("i"), array("f")
        for index, sequence in enumerate(sequences):
            for place in sequence:
                for name, value in _features(place).items():
                    number = names.setdefault(name, len(names)) if training else names.get(name)
                    if number is not None:
                        numbers.append(number)
                        values.append(value)
                first.append(len(numbers))
            self._check_values(values, first, index, len(sequence), numbers)
        self.num_features = len(names)
        found = np.frombuffer(values, np.float32) if len(values) else none
        return Places(
            starts,
            None,
            np.frombuffer(first, np.int64),
            np.frombuffer(numbers, np.int32) if len(numbers) else none.astype(np.int32),
            none if (found == 1).all() else found,
        )

    def encode(self, sequence: Any, index: int = 0) -> Observed:
        """One sequence; its length is that of its arrays until it is padded.

        `index` is its place among others, for messages.
        """
        if self.dense:
            features = self._rows(sequence, index)
            return Observed(features, np.array(len(features)))  # pyright: ignore
        known = [
            [
                (self.names[name], value)
                for name, value in _features(place).items()
                if name in self.names
            ]
            for place in sequence
        ]
        width = max((len(place) for place in known), default=0)
        numbers = np.zeros((len(known), width), np.int32)
        values = np.zeros((len(known), width), np.float32)
        for t, place in enumerate(known):
            for e, (number, value) in enumerate(place):
                numbers[t, e], values[t, e] = number, value
                if not math.isfinite(value):
                    raise _not_finite(index, t, self._name(number), value)
        return Observed(SparseFeatures(numbers, values), np.array(len(known)))  # pyright: ignore

    def _rows(self, sequence: Any, index: int) -> np.ndarray:
        """The features of one sequence, as an array that can be used."""
        if not len(sequence):
            return np.zeros((0, self.num_features), np.float32)
        try:
            features = np.asarray(sequence, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"sequence {index} is no array of numbers of shape (length, {self.num_features}), "
                f"as in training: {error}"
            ) from None
        if features.ndim != 2 or features.shape[1] != self.num_features:
            raise InputError(
                f"sequence {index} has features of shape {features.shape}, but training had "
                f"{self.num_features} features at each place"
            )
        bad = np.argwhere(~np.isfinite(features))
        if len(bad):
            place, feature = bad[0]
            raise _not_finite(index, place, f"feature {feature}", float(features[place, feature]))
        return features

    def _check_values(self, values: Any, first: Any, index: int, length: int, numbers: Any) -> None:
        """Of the last sequence, whose entries are at the end."""
        begin = first[-1 - length]
        if length and not math.isfinite(sum(values[begin:])):
            for place in range(length):
                for entry in range(first[place - 1 - length], first[place - length]):
                    if not math.isfinite(values[entry]):
                        name = self._name(numbers[entry])
                        raise _not_finite(index, place, name, values[entry])

    def _name(self, number: int) -> str:
        return f"feature {next(name for name, own in self.names.items() if own == number)!r}"

    def encode_labels(self, labels: Sequence[Any]) -> np.ndarray:
        unknown = [label for label in labels if label not in self.numbers]
        if unknown:
            raise InputError(
                f"label {unknown[0]!r} did not occur in training; known are {self.classes}"
            )
        return np.array([self.numbers[label] for label in labels], dtype=np.int32)


def pad(example: tuple[Observed, np.ndarray], length: int, entries: int) -> tuple[Any, Any]:
    """An example with arrays of the given length (and number of sparse entries a place)."""
    observed, labels = example
    features = observed.features
    if isinstance(features, SparseFeatures):
        grown: list[Any] = [_grown(leaf, length, entries) for leaf in features]
        padded: Any = SparseFeatures(*grown)
    else:
        padded = _grown(features, length, features.shape[1])
    return Observed(padded, observed.length), np.pad(labels, (0, length - len(labels)))


def check_aligned(sequences: Sequence[Any], labels: Sequence[Sequence[Any]]) -> None:
    if not len(sequences):
        raise InputError("there are no sequences")
    if len(sequences) != len(labels):
        raise InputError(f"{len(sequences)} sequences have {len(labels)} sequences of labels")
    for i, (sequence, own) in enumerate(zip(sequences, labels, strict=True)):
        if len(sequence) != len(own) or not len(own):
            raise InputError(
                f"sequence {i} has {len(sequence)} places and {len(own)} labels; each place needs "
                "one, and empty sequences have to be left out"
            )


def _not_finite(sequence: int, place: int, feature: str, value: float) -> InputError:
    return InputError(
        f"sequence {sequence} has {feature} = {value} at place {place}; features must be finite "
        "numbers: leave a missing one out (or use 0), and scale large ones down"
    )


def _grown(leaf: Any, length: int, width: int) -> np.ndarray:
    return np.pad(np.asarray(leaf), ((0, length - leaf.shape[0]), (0, width - leaf.shape[1])))


def _classes(labels: Sequence[Sequence[Any]]) -> list[Any]:
    """All labels that occur, in order."""
    for i, sequence in enumerate(labels):
        if isinstance(sequence, str | bytes):
            raise InputError(
                f"the labels of sequence {i} are the string {sequence!r}, which would be taken "
                f"apart into letters; give a list of labels: {list(str(sequence))!r} if that is "
                "what is meant"
            )
        for t, label in enumerate(sequence):
            # Only NaN is not equal to itself.
            if label is None or (isinstance(label, float | np.floating) and label != label):
                raise InputError(
                    f"sequence {i} has the label {label!r} at place {t}; give every place a label"
                )
    try:
        return sorted({label for sequence in labels for label in sequence})
    except TypeError as error:
        raise InputError(
            f"labels must be of one type that can be ordered, such as strings or whole numbers "
            f"({error})"
        ) from None


def _is_dense(sequence: Any) -> bool:
    if np.ndim(sequence[0]) == 0 and not isinstance(sequence[0], dict | str | bytes):
        return True
    return not isinstance(sequence[0], dict) and not isinstance(next(iter(sequence[0]), ""), str)


def _features(place: Any) -> dict[str, float]:
    if isinstance(place, str | bytes):
        raise InputError(
            f"a place of a sequence is the string {place!r}, whose letters would be taken for its "
            f"features; give features: {{'word': {place!r}}}, or a list of names, [{place!r}]"
        )
    if not isinstance(place, dict):
        return {str(name): 1.0 for name in place}
    found = {}
    for name, value in place.items():
        if isinstance(value, str):
            found[f"{name}:{value}"] = 1.0
        else:
            found[str(name)] = _number(name, value)
    return found


def _number(name: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"feature {name!r} = {value!r} is neither a number nor a string; leave it out"
        ) from None
