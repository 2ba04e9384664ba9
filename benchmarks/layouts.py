"""Other keyboards without training anew: generated swipes on QWERTY, AZERTY and Dvorak."""

from __future__ import annotations

from typing import Any

import numpy as np

from doeblin.gestures.data import Generator, Layout, Lexicon
from doeblin.gestures.decoder import Decoder, Model, evaluate

WORDS = 2000
SEEDS = range(5, 13)
LAYOUTS = {
    "qwerty": Layout.qwerty(),
    "azerty": Layout.from_rows(["azertyuiop", "qsdfghjklm", "wxcvbn"], [0, 0, 1], name="azerty"),
    "dvorak": Layout.from_rows(["pyfgcrl", "aoeuidhtns", "qjkxbmwvz"], [3, 0, 0.5], name="dvorak"),
}


def run() -> dict[str, Any]:
    """The shipped model; for each seed, the same words with the same noise on each keyboard."""
    lexicon, found = Lexicon.embedded(10_000), {}
    values: dict[str, np.ndarray] = {}
    for name, layout in LAYOUTS.items():
        decoder, rows = Decoder(Model.shipped(), lexicon, layout=layout), []
        for seed in SEEDS:
            gestures = list(Generator(layout).sample(lexicon, WORDS, seed=seed, power=0.5))
            report = evaluate(decoder, gestures)
            rows.append([report["all"][key] for key in ("top1", "top4")])
        values[name] = np.array(rows)
        below = values["qwerty"] - values[name]
        errors = below.std(axis=0, ddof=1) / np.sqrt(len(SEEDS))
        found[name] = {"words": WORDS * len(SEEDS)}
        for column, key in enumerate(("top1", "top4")):
            found[name][key] = float(values[name][:, column].mean())
            found[name][f"{key}_below_qwerty"] = float(below[:, column].mean())
            found[name][f"{key}_standard_error"] = float(errors[column])
        print(name, found[name], flush=True)
    return {"layouts": found}
