"""Model files that somebody has changed: every tensor, in ways that decoding would not show."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from doeblin import InputError
from doeblin.gestures.decoder import Hands, Model
from doeblin.gestures.decoder._hand import OBSERVED
from doeblin.gestures.decoder.reading import Reader, shapes
from doeblin.gestures.decoder.restart import NUM_INPUTS, Network
from doeblin.gestures.decoder.words import FEATURES, NUM_STROKE_INPUTS

from . import brute


def network(*sizes):
    pairs = zip(sizes[1:], sizes[:-1], strict=True)
    return Network(tuple((np.full(pair, 0.5), np.zeros(pair[0])) for pair in pairs), True)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A small model with every part that there can be."""
    plain = Model.untrained(brute.LAYOUT)
    read = {name: np.zeros(shape, np.float32) for name, shape in shapes(4, 2, 2, 3).items()}
    model = Model(
        plain.weights, plain.word_weights, plain.layout,
        network=network(NUM_INPUTS, 3, 2), stroke_network=network(NUM_STROKE_INPUTS, 2, 1),
        word_network=network(len(FEATURES) + 2, 3, 1), reader=Reader(read),
        hands=Hands(*np.full((4, len(OBSERVED)), 0.5)),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("model") / "whole.safetensors"
    model.save(path)
    return path


def opened(file):
    with safe_open(str(file), framework="numpy") as one:
        return load_file(str(file)), one.metadata()


CHANGES = {
    "nan": lambda one, name: {**one, name: np.full_like(one[name], np.nan)},
    "inf": lambda one, name: {**one, name: np.full_like(one[name], -np.inf)},
    "one nan": lambda one, name: {**one, name: _last(one[name], np.nan)},
    "absurd": lambda one, name: {**one, name: _last(one[name], 1e38)},
    "int32": lambda one, name: {**one, name: one[name].astype(np.int32)},
    "bool": lambda one, name: {**one, name: one[name].astype(bool)},
    "deleted": lambda one, name: {key: one[key] for key in one if key != name},
    "renamed": lambda one, name: {f"{key}_" if key == name else key: one[key] for key in one},
}


def _last(values, value):
    values = values.copy()
    values.flat[-1] = value
    return values


@pytest.mark.parametrize("change", CHANGES)
def test_every_tensor_that_was_changed_is_named(file, tmp_path, change):
    tensors, told = opened(file)
    assert len(tensors) > 40
    damaged = tmp_path / "damaged.safetensors"
    for name in tensors:
        save_file(CHANGES[change](tensors, name), str(damaged), told)
        with pytest.raises(InputError) as caught:
            Model.load(damaged)
        said = str(caught.value)
        assert said.startswith(f"{damaged}: the tensor '{name}"), said
        assert "get the file anew, or train the model again" in said and "\n" not in said


def test_tensors_that_nobody_knows_are_refused(file, tmp_path):
    tensors, told = opened(file)
    damaged = tmp_path / "damaged.safetensors"
    for name in ("zzz", "reader.7.apart", "hands.feet", "network.5.bias"):
        save_file({**tensors, name: np.zeros(3, np.float32)}, str(damaged), told)
        with pytest.raises(InputError, match=f"the tensor '{name}' is no part of such a model"):
            Model.load(damaged)


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_weights_may_have_any_precision(file, tmp_path, kind):
    tensors, told = opened(file)
    path = tmp_path / "other.safetensors"
    save_file({name: values.astype(kind) for name, values in tensors.items()}, str(path), told)
    assert Model.load(path).word_network is not None
    values = _last(tensors["weights"], np.inf).astype(kind)
    save_file({**tensors, "weights": values}, str(path), told)
    with pytest.raises(InputError, match="'weights' holds inf"):
        Model.load(path)


def test_files_from_before_there_were_networks_are_read(file, tmp_path):
    """As 0.1.0 wrote them: two tensors, perhaps a network, and a header with less in it."""
    tensors, told = opened(file)
    header = json.loads(told["doeblin"])
    for name in ("log_openness", "rectified", "sharpness"):
        del header[name]
    parts = {name: tensors[name] for name in ("weights", "word_weights")}
    parts |= {name: tensors[name] for name in tensors if name.startswith("network.")}
    path = tmp_path / "old.safetensors"
    save_file(parts, str(path), {"doeblin": json.dumps(header | {"openness": 6.0})})
    old = Model.load(path)
    assert old.network is not None and not old.network.rectified
    assert old.word_network is old.reader is old.hands is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("log_openness", float("nan")), ("log_openness", 1e300), ("log_openness", 10**400),
        ("spelling", [float("nan"), 0.0]), ("epsilon", float("nan")), ("sharpness", float("inf")),
    ],
)  # fmt: skip
def test_settings_that_are_no_numbers_are_refused(file, tmp_path, field, value):
    tensors, told = opened(file)
    header = json.loads(told["doeblin"]) | {field: value}
    path = tmp_path / "odd.safetensors"
    save_file(tensors, str(path), {"doeblin": json.dumps(header)})
    with pytest.raises(InputError, match=r"odd\.safetensors"):
        Model.load(path)
    save_file(tensors, str(path), {"doeblin": "[]"})
    with pytest.raises(InputError, match="not a gesture model"):
        Model.load(path)


def test_what_is_made_in_python_is_looked_at_too():
    plain = Model.untrained(brute.LAYOUT)
    for values in (plain.word_weights * np.nan, plain.word_weights.astype(int)):
        with pytest.raises(InputError, match="the tensor 'word_weights'"):
            Model(plain.weights, values, plain.layout)
    with pytest.raises(InputError, match="the tensor 'weights' holds 1000"):
        Model(plain.weights * 0 + 1000, plain.word_weights, plain.layout)
    with pytest.raises(InputError, match=r"the tensor '0\.bias' holds nan"):
        Network(((np.zeros((1, 2)), np.full(1, np.nan)),))
    with pytest.raises(InputError, match="layer 0"):
        Network(((np.array(1.0), np.array(1.0)),))
