"""The engine in numpy against the compiled one."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from doeblin.gestures.data import Gesture
from doeblin.gestures.decoder import MOST_PLAIN, Decoder, Model
from doeblin.gestures.decoder._choice import use_plain
from doeblin.gestures.decoder.restart import NUM_INPUTS, Network

# Nobody moves like this, but somebody may send it.
STRANGE = [
    Gesture.checked([2.3], [1.1], [0]),
    Gesture.checked([2.3, 5], [1.1, 0.4], [0, 0]),
    Gesture.checked([1, 4, 4, 4, 4, 8], [0, 1, 1, 1, 1, 2], [0, 50, 50, 90, 400, 400]),
    Gesture.checked([50, 60], [40, 30], [0, 500]),
]


def with_network(model: Model) -> Model:
    rng = np.random.default_rng(5)
    layers = (
        (rng.normal(size=(6, NUM_INPUTS)) / 10, rng.normal(size=6)),
        (rng.normal(size=(2, 6)), rng.normal(size=2)),
    )
    return dataclasses.replace(model, network=Network(layers))


def unpruned(model: Model) -> Model:
    return dataclasses.replace(
        model, settings=dataclasses.replace(model.settings, prune=0.0, prune_deep=0.0)
    )


@pytest.mark.parametrize("change", [lambda model: model, with_network, unpruned])
def test_both_engines_say_the_same(lexicon, gestures, change):
    model, given = change(Model.shipped()), gestures[-20:]
    plain, compiled = (
        Decoder(model, lexicon, compiled=choice).candidates(given, align=True, open_vocabulary=True)
        for choice in (False, True)
    )
    assert plain.spelled.tolist() == compiled.spelled.tolist() and len(plain.spelled)
    for name in ("ids", "nodes", "hits"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name), name)
    for name in ("log_u", "features", "log_lexicon", "shifts"):
        np.testing.assert_allclose(
            getattr(plain, name), getattr(compiled, name), rtol=1e-9, atol=1e-9, err_msg=name
        )
    for name in ("strokes", "reading"):
        one, other = getattr(plain, name), getattr(compiled, name)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=name)


def test_both_engines_say_the_same_of_strange_traces(lexicon):
    plain, compiled = (
        Decoder(Model.shipped(), lexicon, compiled=choice).candidates(STRANGE)
        for choice in (False, True)
    )
    np.testing.assert_array_equal(plain.ids, compiled.ids)
    for name in ("log_u", "features", "log_lexicon", "shifts"):
        np.testing.assert_allclose(
            getattr(plain, name), getattr(compiled, name), rtol=1e-9, atol=1e-9, err_msg=name
        )


def test_few_gestures_are_plain_and_many_compiled():
    assert use_plain(MOST_PLAIN - 1, None) and use_plain(1, None)
    assert not use_plain(1, None) and not use_plain(0, None)
    assert use_plain(10 * MOST_PLAIN, False) and not use_plain(1, True)


def test_a_few_gestures_need_neither_numba_nor_jax():
    code = """
import sys
from doeblin.gestures import Decoder, Gesture, Lexicon, Model
decoder = Decoder(Model.shipped(), Lexicon.embedded(100))
assert decoder.decode([Gesture.checked([1, 5], [0, 1], [0, 400])], open_vocabulary=True)[0]
sys.exit(", ".join({"jax", "llvmlite", "numba", "scipy"} & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
