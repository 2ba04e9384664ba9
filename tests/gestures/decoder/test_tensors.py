"""Model files that somebody has changed: every tensor, in ways that decoding would not show."""

import contextlib
import json
import os
import stat

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from doeblin import InputError
from doeblin._errors import OutputError
from doeblin.gestures.decoder import Hands, Model
from doeblin.gestures.decoder._hand import OBSERVED
from doeblin.gestures.decoder.reading import Reader, shapes
from doeblin.gestures.decoder.restart import NUM_INPUTS, Network
from doeblin.gestures.decoder.training._checkpoint import Checkpoint
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


def test_a_layer_that_is_gone_is_missed(file, tmp_path):
    """A reader of fewer layers is one, too, and says other things."""
    tensors, told = opened(file)
    damaged, header = tmp_path / "damaged.safetensors", json.loads(told["doeblin"])
    last = max(name.split(".")[1] for name in tensors if name.endswith(".apart"))
    for left in (
        {name: values for name, values in tensors.items() if not name.startswith("hands.")},
        {k: values for k, values in tensors.items() if not k.startswith(f"reader.{last}.")},
    ):
        save_file(left, str(damaged), told)
        with pytest.raises(InputError, match="header and tensors do not belong together"):
            Model.load(damaged)
    for name, value in (("rectified", []), ("sharpness", 0.5), ("doubt", [1.0, -1.0, -1.0])):
        if header[name] == value:
            continue
        other = json.dumps({**header, name: value})
        save_file(tensors, str(damaged), {"doeblin": other})
        with pytest.raises(InputError, match="do not belong together"):
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
    for name in ("log_openness", "rectified", "sharpness", "doubt", "digest"):
        header.pop(name, None)
    parts = {name: tensors[name] for name in ("weights", "word_weights")}
    parts |= {name: tensors[name] for name in tensors if name.startswith("network.")}
    path = tmp_path / "old.safetensors"
    with pytest.raises(InputError, match="has no field 'log_openness'"):  # nor that of before
        save_file(parts, str(path), {"doeblin": json.dumps(header)})
        Model.load(path)
    save_file(parts, str(path), {"doeblin": json.dumps(header | {"openness": 6.0})})
    old = Model.load(path)
    assert old.openness == -6.0 and old.sharpness == 1.0
    assert old.network is not None and not old.network.rectified
    assert old.word_network is old.reader is old.hands is None


def test_tensors_of_other_shapes_are_refused(file, tmp_path):
    """Also those without an axis, and without a number."""
    tensors, told = opened(file)
    damaged = tmp_path / "damaged.safetensors"
    for name, values in tensors.items():
        shapes = {(), (0,), (1,), (0, 0), (1, 1), (*values.shape, 1), (*values.shape[:-1], 0)}
        for shape in shapes - {values.shape}:
            save_file({**tensors, name: np.zeros(shape, np.float32)}, str(damaged), told)
            with pytest.raises(InputError, match=r"damaged\.safetensors: "):
                Model.load(damaged)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_there_but_no_file_is_called_what_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, kind in (
        (tmp_path, "Is a dir"),
        (pipe, "it is a pipe"),
        ("/dev/zero", "it is a dev"),
    ):
        with pytest.raises(InputError, match=f"cannot read '{path}': {kind}"):
            Model.named(path)
    with pytest.raises(InputError, match="there is no such file; a model is a file, `shipped`"):
        Model.named(tmp_path / "absent")


def test_a_model_is_saved_as_other_files_are(file, tmp_path):
    model, old = Model.load(file), os.umask(0o027)
    new, kept, link = (tmp_path / name for name in ("new", "kept", "link"))
    kept.touch()
    kept.chmod(0o604)
    link.symlink_to(kept)
    try:
        model.save(new)
        model.save(link)
    finally:
        os.umask(old)
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (new, kept)] == [0o640, 0o604]
    assert link.is_symlink() and kept.read_bytes() == new.read_bytes() == file.read_bytes()


@contextlib.contextmanager
def full_disk():
    """No file gets longer than 1 kB."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_where_the_disk_is_full_the_old_files_stay(file, tmp_path):
    model, path, kept = Model.load(file), tmp_path / "model", tmp_path / "state"
    path.write_text("old")
    kept.write_text("old")
    with full_disk():
        with pytest.raises(OutputError, match=r"cannot write '.*model'"):
            model.save(path)
        with pytest.raises(OutputError, match=r"cannot write '.*state'"):
            Checkpoint(kept, {}, 1).write(1, {"weights": np.zeros(1000)})
    assert path.read_text() == kept.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["model", "state"]
    with pytest.raises(OutputError, match="No such file"):
        Checkpoint(tmp_path / "no" / "state", {}, 1).write(1, {})
    assert not (tmp_path / "no").exists()


NO_NUMBER = (None, True, "1", [], float("nan"), 10**400)
ODD = {
    "layout": (None, [], {}, {"rows": ["ab"], "row_left_offset_keys": [0]}),
    "settings": (None, [], {}, {"rate": 15.0}),
    "epsilon": NO_NUMBER,
    "log_openness": NO_NUMBER,
    "sharpness": NO_NUMBER,
    "spelling": (None, [], [1.0], [1.0, True], {"power": 1.0}),
    "factors": (None, "log_mass", [1], {}),
    "rectified": (
        None, "network", [1], ["reader"], ["netwrk", "word_network", "stroke_network"],
        ["stroke_network", "word_network", "network"],
    ),
    "about": (None, [], "here"),
}  # fmt: skip


@pytest.mark.parametrize("field", ODD)
def test_every_field_of_the_header_must_be_there_and_be_what_it_is(file, tmp_path, field):
    tensors, told = opened(file)
    header = json.loads(told["doeblin"])
    damaged = tmp_path / "damaged.safetensors"
    missing = {name: value for name, value in header.items() if name != field}
    for one in (
        missing,
        missing | {f"{field}_": 1},
        *({**header, field: odd} for odd in ODD[field]),
    ):
        save_file(tensors, str(damaged), {"doeblin": json.dumps(one)})
        with pytest.raises(
            InputError, match="get the file anew, or train the model again"
        ) as caught:
            Model.load(damaged)
        said = str(caught.value)
        assert said.startswith(f"{damaged}: ") and f"'{field}'" in said
        for python in ("None", "True", "Error", "__", "argument"):
            assert python not in said


def test_a_header_that_is_no_header_is_said_plainly(file, tmp_path):
    tensors, told = opened(file)
    damaged = tmp_path / "damaged.safetensors"
    header = told["doeblin"]
    for text, words in (
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        (header[:-1] + f', "more": {"9" * 5000}}}', "a number has thousands of digits"),
        (header[:-1] + ', "epsilon": 0.5}', "the field 'epsilon' is there twice"),
        (header[:-1] + ', "more": 1}', "a field 'more' too many"),
        ('{"format": "doeblin-gestures-1"}', "has no field 'layout'"),
        ("null", "no format 'doeblin-gestures-1'"),
    ):
        save_file(tensors, str(damaged), {"doeblin": text})
        with pytest.raises(InputError, match=words) as caught:
            Model.load(damaged)
        assert "sys." not in str(caught.value)
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    twice = b'{"__metadata__":{"doeblin":"{}"},' + content[9 : 8 + size]
    damaged.write_bytes(len(twice).to_bytes(8, "little") + twice + content[8 + size :])
    with pytest.raises(InputError):
        Model.load(damaged)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("log_openness", float("nan")), ("log_openness", 1e300), ("log_openness", 10**400),
        ("spelling", [float("nan"), 0.0]), ("spelling", [-1.0, 0.0]),
        ("epsilon", float("nan")), ("sharpness", float("inf")),
    ],
)  # fmt: skip
def test_settings_that_are_no_numbers_are_refused(file, tmp_path, field, value):
    tensors, told = opened(file)
    header = json.loads(told["doeblin"]) | {field: value}
    path = tmp_path / "odd.safetensors"
    save_file(tensors, str(path), {"doeblin": json.dumps(header)})
    with pytest.raises(InputError, match=r"odd\.safetensors: (?!its header and)"):
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
