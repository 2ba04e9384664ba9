"""Handwritten words, letter by letter (Taskar's OCR set), beside CRFsuite on the same features.

The data are not shipped: `--data` names an .npz file with `lengths` (of words), `pixels` (16 bytes
a letter), `labels` (0 = a) and `folds` (of words). First letters are not among the data, so words
of the embedded lexicon are taken without theirs.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite

from doeblin.crf import SequenceLabeller
from doeblin.gestures import Lexicon

from ._memory import measured

Words = tuple[list[np.ndarray], list[list[str]]]


def read(path: Path) -> tuple[Words, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        lengths, pixels, labels, folds = (
            file[name] for name in ("lengths", "pixels", "labels", "folds")
        )
    seen = np.unpackbits(pixels, axis=1).astype(np.float32)
    seen = np.concatenate([seen, np.ones((len(seen), 1), np.float32)], axis=1)
    letters = [chr(ord("a") + label) for label in labels]
    ends = np.cumsum(lengths.astype(int))
    begins = ends - lengths.astype(int)
    X = [seen[begin:end] for begin, end in zip(begins, ends, strict=True)]
    y = [letters[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return (X, y), folds


def some(words: Words, which: np.ndarray) -> Words:
    numbers = np.flatnonzero(which).tolist()
    return [words[0][i] for i in numbers], [words[1][i] for i in numbers]


def listed() -> dict[str, float]:
    """Words of the embedded lexicon without their first letters, and how frequent they are."""
    lexicon, found = Lexicon.embedded(), {}
    for word, frequency in zip(lexicon.words, lexicon.frequencies, strict=True):
        if len(word) > 1 and word.isascii() and word.isalpha():
            found[word[1:]] = found.get(word[1:], 0.0) + float(frequency)
    return {word: math.log10(frequency) for word, frequency in found.items()}


def right(found: list[list[str]], wanted: list[list[str]]) -> dict[str, float]:
    pairs = list(zip(found, wanted, strict=True))
    letters = [a == b for one, other in pairs for a, b in zip(one, other, strict=True)]
    return {"letters": float(np.mean(letters)), "words": float(np.mean([a == b for a, b in pairs]))}


def ours(train: Words, test: Words, **options: Any) -> dict[str, Any]:
    labeller = SequenceLabeller(**options)
    began = time.process_time()
    labeller.fit(*train)
    fitted = time.process_time()
    marginal = right(labeller.predict(test[0]), test[1])
    joint = right(labeller.predict(test[0], decode="joint"), test[1])
    return {
        "marginal": marginal,
        "joint": joint,
        "fit_cpu_s": fitted - began,
        "predict_cpu_s": time.process_time() - fitted,
        "word_weights": labeller.theta_.words.tolist(),
    }


def theirs(train: Words, test: Words, c2: float) -> dict[str, Any]:
    def named(sequence: np.ndarray) -> Any:
        return pycrfsuite.ItemSequence([[str(i) for i in np.flatnonzero(row)] for row in sequence])

    began = time.process_time()
    trainer = pycrfsuite.Trainer(verbose=False)
    for sequence, labels in zip(*train, strict=True):
        trainer.append(named(sequence), labels)
    trainer.set_params({"c2": c2, "max_iterations": 100, "feature.possible_transitions": True})
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/letters")
        fitted = time.process_time()
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/letters")
        found = [tagger.tag(named(sequence)) for sequence in test[0]]
    return {
        "joint": right(found, test[1]),
        "fit_cpu_s": fitted - began,
        "predict_cpu_s": time.process_time() - fitted,
    }


def run(data: Path) -> dict[str, Any]:
    words, folds = read(data)
    first, rest = some(words, folds == 1), some(words, folds != 1)
    most, last = some(words, folds != 7), some(words, folds == 7)
    l2 = 1e-3
    lexicon = listed()
    inside = float(np.mean(["".join(word) in lexicon for word in rest[1]]))
    cases = {
        "CRFsuite, fold 1": lambda: theirs(first, rest, c2=l2 * len(first[0]) / 2),
        "plain CRF, fold 1": lambda: ours(first, rest, l2=l2),
        "embedded words, fold 1": lambda: ours(first, rest, l2=l2, words=lexicon),
        "3- and 4-grams, fold 1": lambda: ours(first, rest, l2=l2, ngrams=(3, 4)),
        "3- and 4-grams and embedded words, fold 1": lambda: ours(
            first, rest, l2=l2, ngrams=(3, 4), words=lexicon
        ),
        "3- and 4-grams, seven folds": lambda: ours(
            most, last, l2=1e-4, ngrams=(3, 4), crf_steps=40
        ),
    }
    found = {}
    for name, case in cases.items():
        found[name] = measured(case)
        print(f"  {name}: {found[name]}", flush=True)
    return {"words": len(words[0]), "in_lexicon": inside, "cases": found}
