"""Part-of-speech tags of a treebank, beside CRFsuite on the same features.

The data are not shipped: `--data` names a folder with `train.tsv.gz` and `dev.tsv.gz`, which have
one word a line (form, universal tag, …), `# …` before and an empty line after each sentence. Our
penalty is chosen by a tenth of the training sentences; the test sentences have no say in it.
"""

from __future__ import annotations

import gzip
import itertools
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
from scipy.stats import binomtest

from doeblin.crf import SequenceLabeller

from ._memory import measured

Sentences = list[tuple[list[str], list[str]]]
Data = tuple[list[list[dict[str, str]]], list[list[str]]]

PENALTIES = (2e-5, 5e-5, 1e-4, 2e-4)


def read(path: Path) -> Sentences:
    found: Sentences = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for words, lines in itertools.groupby(file, key=lambda line: line.strip() != ""):
            if words:
                rows = [
                    line.rstrip("\n").split("\t") for line in lines if not line.startswith("# ")
                ]
                found.append(([row[0] for row in rows], [row[1] for row in rows]))
    return found


def shape(word: str) -> str:
    kinds = (
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word
    )
    return "".join(kind for kind, _ in itertools.groupby(kinds))


def features(words: list[str]) -> list[dict[str, str]]:
    """The word, two prefixes and suffixes, its shape, and its neighbours."""
    low = ["^", *(word.lower() for word in words), "$"]
    return [
        {
            "bias": "",
            "word": word,
            "prefix 2": word[:2],
            "prefix 3": word[:3],
            "suffix 2": word[-2:],
            "suffix 3": word[-3:],
            "shape": shape(written),
            "before": before,
            "after": after,
            "end before": before[-2:],
            "end after": after[-2:],
        }
        for written, before, word, after in zip(words, low, low[1:], low[2:], strict=False)
    ]


def encoded(sentences: Sentences) -> Data:
    return [features(words) for words, _ in sentences], [tags for _, tags in sentences]


def judged(found: list[list[str]], wanted: list[list[str]]) -> dict[str, Any]:
    each = [
        np.array([a == b for a, b in zip(one, other, strict=True)])
        for one, other in zip(found, wanted, strict=True)
    ]
    return {"tags": float(np.mean(np.concatenate(each))), "right": each}


def compared(ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, Any]:
    """How many more tags are right: paired over sentences, in standard errors; and over words, as
    McNemar did, by the binomial law of those that only one of the two has right."""
    gains = np.array([one.sum() - other.sum() for one, other in zip(ours, theirs, strict=True)])
    a, b = np.concatenate(ours), np.concatenate(theirs)
    only_ours, only_theirs = int((a & ~b).sum()), int((~a & b).sum())
    return {
        "only_the_first": only_ours,
        "only_the_second": only_theirs,
        "z": gains.mean() / (gains.std(ddof=1) / np.sqrt(len(gains))),
        "mcnemar_p": binomtest(only_ours, only_ours + only_theirs).pvalue,
    }


def ours(train: Data, test: Data, **options: Any) -> dict[str, Any]:
    began = time.process_time()
    labeller = SequenceLabeller(**options).fit(*train)
    fitted = time.process_time()
    found = labeller.predict(test[0])
    return {
        **judged(found, test[1]),
        "states": labeller.structure_.automaton.num_states,
        "fit_cpu_s": fitted - began,
        "predict_cpu_s": time.process_time() - fitted,
    }


def theirs(train: Data, test: Data, **options: Any) -> dict[str, Any]:
    began = time.process_time()
    trainer = pycrfsuite.Trainer(verbose=False)
    for sequence, tags in zip(*train, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sequence), tags)
    trainer.set_params(options)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/tags")
        fitted = time.process_time()
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/tags")
        found = [tagger.tag(pycrfsuite.ItemSequence(sequence)) for sequence in test[0]]
    return {
        **judged(found, test[1]),
        "fit_cpu_s": fitted - began,
        "predict_cpu_s": time.process_time() - fitted,
    }


def penalty(train: Data) -> dict[float, float]:
    """The tags that pairs have right in a tenth of the training sentences, learned from the others,
    by penalty."""
    order = np.random.default_rng(0).permutation(len(train[0])).tolist()
    cut = len(order) // 10
    held, rest = (
        tuple([part[i] for i in which] for part in train) for which in (order[:cut], order[cut:])
    )
    found = {}
    for l2 in PENALTIES:
        found[l2] = measured(lambda l2=l2: {"tags": ours(rest, held, l2=l2)["tags"]})["tags"]
        print(f"  l2 = {l2}: {found[l2]:.4f} of held-out training sentences", flush=True)
    return found


def run(data: Path) -> dict[str, Any]:
    train, test = (encoded(read(data / f"{name}.tsv.gz")) for name in ("train", "dev"))
    by_penalty = penalty(train)
    l2 = max(by_penalty, key=by_penalty.__getitem__)
    # CRFsuite adds c2·‖θ‖² to a sum over sentences, we l2/2·‖θ‖² to their mean.
    same = l2 * len(train[0]) / 2
    cases = {
        "CRFsuite": lambda: theirs(train, test, c2=1.0, max_iterations=100),
        "CRFsuite, our penalty": lambda: theirs(train, test, c2=same, max_iterations=100),
        "pairs": lambda: ours(train, test, l2=l2),
        "with 3-grams": lambda: ours(train, test, l2=l2, ngrams=(3,), prune=1e-3),
        "with 3- and 4-grams": lambda: ours(train, test, l2=l2, ngrams=(3, 4), prune=1e-3),
    }
    found = {}
    for name, case in cases.items():
        found[name] = measured(case)
        told = {key: value for key, value in found[name].items() if key != "right"}
        print(f"  {name}: {told}", flush=True)
    pairs = (
        ("pairs", "CRFsuite"),
        ("pairs", "CRFsuite, our penalty"),
        ("with 3-grams", "pairs"),
        ("with 3- and 4-grams", "pairs"),
    )
    paired = {}
    for name, other in pairs:
        paired[f"{name}, {other}"] = compared(found[name]["right"], found[other]["right"])
        print(f"  {name}, {other}: {paired[f'{name}, {other}']}", flush=True)
    for case in found.values():
        del case["right"]
    chosen = {"l2": l2, "tags": [by_penalty[each] for each in PENALTIES]}
    return {"sentences": len(train[0]), "penalty": chosen, "cases": found, "paired": paired}
