"""Other keyboards without training anew: generated swipes on QWERTY, AZERTY and Dvorak."""

from __future__ import annotations

from typing import Any

from doeblin.gestures.data import Generator, Layout, Lexicon
from doeblin.gestures.decoder import Decoder, Model, evaluate

WORDS = 2000
LAYOUTS = {
    "qwerty": Layout.qwerty(),
    "azerty": Layout.from_rows(["azertyuiop", "qsdfghjklm", "wxcvbn"], [0, 0, 1], name="azerty"),
    "dvorak": Layout.from_rows(["pyfgcrl", "aoeuidhtns", "qjkxbmwvz"], [3, 0, 0.5], name="dvorak"),
}


def run() -> dict[str, Any]:
    """The shipped model; the same words with the same noise on each keyboard."""
    lexicon, found = Lexicon.embedded(10_000), {}
    for name, layout in LAYOUTS.items():
        gestures = list(Generator(layout).sample(lexicon, WORDS, seed=5, power=0.5))
        report = evaluate(Decoder(Model.shipped(), lexicon, layout=layout), gestures)
        found[name] = {key: report["all"][key] for key in ("words", "top1", "top4")}
        print(name, found[name], flush=True)
    return {"layouts": found}
