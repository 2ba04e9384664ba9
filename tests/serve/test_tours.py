"""The chain that the page shows has the decoder's law."""

from __future__ import annotations

from collections import Counter

import numpy as np

from doeblin.gestures import Decoder, Generator, Model
from doeblin.serve._decode_tasks import _tours


def test_visits_follow_the_posterior_and_restarts_come_at_rate_epsilon():
    decoder = Decoder(Model.shipped())
    gesture = Generator(decoder.layout, noise=1.5).gesture("hello", np.random.default_rng(1))
    runs = [_tours(decoder, gesture, 400, seed) for seed in range(50)]
    # The first step is a restart by construction; the others are independent draws of π̃.
    steps = [step for run in runs for step in run["steps"][1:]]
    words = Counter(step["word"] for step in steps)
    candidates = decoder.candidates([gesture])
    for number, chance in zip(candidates.ids[0], decoder.posterior(candidates)[0], strict=True):
        share = words[decoder.lexicon.words[number]] / len(steps)
        assert abs(share - chance) <= 4.5 * np.sqrt(chance * (1 - chance) / len(steps)) + 1e-12
    epsilon = decoder.model.epsilon
    restarts = np.mean([step["restart"] for step in steps])
    assert abs(restarts - epsilon) < 4.5 * np.sqrt(epsilon * (1 - epsilon) / len(steps))
