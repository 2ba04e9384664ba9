"""`doeblin gestures` and `doeblin reproduce gestures`, as a user runs them."""

import json

import numpy as np
import pytest

from doeblin.cli import main
from doeblin.gestures.decoder import Model


@pytest.fixture
def run(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return stopped.value.code, streams.out, streams.err

    return run


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("gestures") / "made.jsonl"
    with pytest.raises(SystemExit) as stopped:
        main(f"gestures generate --count 300 --lexicon-size 500 --seed 3 --out {path}".split())
    assert stopped.value.code == 0
    return path


def first(count, data):
    """A file of the first gestures."""
    few = data.with_name(f"{count}.jsonl")
    few.write_text("".join(data.read_text().splitlines(keepends=True)[:count]))
    return few


def test_the_same_seed_makes_the_same_gestures(run, data):
    options = ("--count", 3, "--lexicon-size", 500)
    status, out, _ = run("gestures", "generate", *options, "--seed", 3)
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and len(rows) == 3
    assert rows == [json.loads(line) for line in data.read_text().splitlines()[:3]]
    assert set(rows[0]) == {"id", "user", "word", "kw", "kh", "x", "y", "t"}
    _, other, _ = run("gestures", "generate", *options, "--seed", 4)
    assert other != out


def test_what_was_learned_stays_where_a_model_cannot_be_saved(run, data, tmp_path, monkeypatch):
    """The state is removed when the model is there, and a file that only has such a name is not."""
    out, state = tmp_path / "model.safetensors", tmp_path / "model.safetensors.checkpoint"
    other = tmp_path / "model.safetensors.checkpoint.network"
    other.write_text("mine")
    options = ("--passes", 2, "--lexicon-size", 500)
    command = ("gestures", "train", first(20, data), "--out", out, *options)
    save = Model.save

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Model, "save", full)
    status, _, said = run(*command)
    assert status == 74 and "No space left on device" in said and state.exists()
    monkeypatch.setattr(Model, "save", save)
    status, _, _ = run(*command)
    assert status == 0 and not state.exists() and other.read_text() == "mine"
    whole = tmp_path / "whole.safetensors"
    assert run(*command[:4], whole, *command[5:])[0] == 0
    np.testing.assert_array_equal(Model.load(out).weights, Model.load(whole).weights)


def test_train_decode_and_evaluate(run, data, tmp_path):
    model = tmp_path / "model.safetensors"
    status, out, _ = run(
        "gestures", "train", data, "--out", model, "--passes", 1, "--lexicon-size", 500, "--json"
    )
    assert status == 0 and json.loads(out)["gestures"] == 300 and model.stat().st_size < 2_000_000
    assert not (tmp_path / "model.safetensors.checkpoint").exists()
    status, out, _ = run("gestures", "decode", model, data, "--lexicon-size", 500, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and len(rows) == 300
    assert sum(row["guesses"][0]["word"] == row["word"] for row in rows) > 240
    assert set(rows[0]["guesses"][0]) == {"word", "probability", "in_lexicon"}
    few = first(50, data)
    status, out, _ = run("gestures", "evaluate", model, few, "--lexicon-size", 500, "--json")
    report = json.loads(out)
    assert status == 0 and report["lexicon_size"] == 500 and report["ms_per_word"] > 0
    assert {"top1", "top4"} <= set(report["in_vocabulary"]) & set(report["all"])
    assert report["in_vocabulary"]["top4"] >= report["in_vocabulary"]["top1"] > 80
    status, out, _ = run("gestures", "evaluate", model, few, "--lexicon-size", 500)
    assert status == 0 and "in vocabulary" in out and "ms a word" in out


def test_networks_that_there_are_too_few_gestures_for_are_not_passed_over(run, data, tmp_path):
    few, model = first(60, data), tmp_path / "model.safetensors"
    status, _, told = run(
        "gestures", "train", few, "--out", model, "--passes", 1, "--lexicon-size", 500, "--neural"
    )
    assert status == 0 and model.exists() and "too few gestures" in told


def test_the_shipped_model_and_draws(run, data, tmp_path):
    few = first(4, data)
    status, out, _ = run("gestures", "decode", "shipped", few, "--top", 2)
    assert status == 0 and len(out.splitlines()) == 4
    arguments = ("gestures", "decode", "shipped", few, "--draws", 50, "--seed", 1, "--json")
    status, out, _ = run(*arguments)
    chances = [guess["probability"] for guess in json.loads(out.splitlines()[0])["guesses"]]
    assert status == 0 and all(round(50 * chance, 6) % 1 == 0 for chance in chances)
    assert run(*arguments)[1] == out
    status, out, _ = run("gestures", "decode", "shipped", few, "--open-vocabulary", "--json")
    assert status == 0 and len(out.splitlines()) == 4


@pytest.mark.thorough
def test_a_hand_is_learned_and_used(run, data, tmp_path):
    hand, size = tmp_path / "me.json", ("--lexicon-size", 500)
    few = first(50, data)
    status, out, _ = run("gestures", "adapt", "shipped", few, "--hand", hand, *size, "--json")
    assert status == 0 and json.loads(out) == json.loads(hand.read_text())
    told = sum(json.loads(out)["counts"].values())
    status, out, _ = run("gestures", "adapt", "shipped", few, "--hand", hand, *size)
    assert status == 0 and f"{2 * told} words" in out  # added to what was there
    plain, mine = (
        run("gestures", "decode", "shipped", few, *size, "--json", *options)
        for options in ((), ("--hand", hand))
    )
    assert plain[0] == mine[0] == 0 and plain[1] != mine[1]
    some = first(120, data)
    status, out, _ = run("gestures", "evaluate", "shipped", some, *size, "--adapt", 10, "--json")
    assert status == 0 and json.loads(out)["users"] == 3
    status, out, _ = run("gestures", "evaluate", "shipped", some, *size, "--adapt", 39)
    assert status == 0 and "log likelihood" in out
    model = tmp_path / "model.safetensors"
    status, out, _ = run(
        "gestures", "tune", "shipped", some, "--sharpness", "--out", model, *size, "--json"
    )
    assert status == 0 and 0.2 < json.loads(out)["sharpness"] < 5 and model.exists()


def test_malformed_rows_are_told_and_left_out(run, data, tmp_path):
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(data.read_text().splitlines()[0] + "\nnonsense\n")
    status, out, err = run("gestures", "decode", "shipped", mixed)
    assert status == 0 and len(out.splitlines()) == 1
    assert "left out 1 malformed rows (line 2: not JSON" in err


def test_words_that_cannot_be_spelled_take_no_room_in_the_lexicon(run, data, tmp_path):
    few, words = tmp_path / "few.jsonl", tmp_path / "words.tsv"
    row = next(line for line in data.read_text().splitlines() if len(json.loads(line)["word"]) > 3)
    few.write_text(row)
    word = json.loads(row)["word"]
    words.write_text(f"été\t9\nxyzzy\t5\n{word}\t3\n")
    command = ("gestures", "decode", "shipped", few, "--lexicon", words, "--lexicon-size", 1)
    status, out, _ = run(*command, "--json")
    assert status == 0 and [g["word"] for g in json.loads(out)["guesses"]] == ["xyzzy"]
    status, out, _ = run(*command, "--open-vocabulary", "--json")
    first = json.loads(out)["guesses"][0]
    assert status == 0 and (first["word"], first["in_lexicon"]) == (word, False)
    status, out, _ = run("gestures", "generate", "--lexicon", words, "--lexicon-size", 1)
    assert status == 0 and '"xyzzy"' in out
    status, out, _ = run(*command[:-1], 10**24, "--top", 10**24, "--json")
    first = json.loads(out)["guesses"][0]  # however many are asked for
    assert status == 0 and (first["word"], first["in_lexicon"]) == (word, True)
    words.write_text("été\t9\n")
    status, _, err = run(*command, "--open-vocabulary")
    assert status == 3 and "layout 'qwerty' can spell no word of the lexicon" in err
    # The embedded list, on a keyboard that lacks the letters of its commonest words.
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"rows": ["ybx"], "row_left_offset_keys": [0]}))
    made = ("gestures", "generate", "--layout", keys, "--lexicon-size", 1, "--count", 1)
    status, out, _ = run(*made)
    assert status == 0 and json.loads(out)["word"] == "by"


def test_what_nobody_confirmed_is_not_learned(run, data, tmp_path):
    rows = [json.loads(line) for line in data.read_text().splitlines()[:2]]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(map(json.dumps, [rows[0], {}, {**rows[1], "word": None}])))
    status, _, err = run("gestures", "adapt", "shipped", path, "--hand", tmp_path / "me.json")
    assert status == 3 and "some.jsonl:3: this gesture has no word" in err
    status, out, _ = run("gestures", "decode", "shipped", path, "--json")
    assert status == 0 and json.loads(out.splitlines()[1])["word"] == ""


def test_a_swipe_is_decoded_whatever_its_label(run, data, tmp_path):
    """To evaluate, it is left out, and said."""
    rows = [json.loads(line) for line in data.read_text().splitlines()[:4]]
    labels = ("don't", "café", "a\tb", rows[3]["word"])
    path = tmp_path / "some.jsonl"
    path.write_text(
        "\n".join(
            json.dumps({**row, "word": word, "id": f"{word}\t7"})
            for row, word in zip(rows, labels, strict=True)
        )
    )
    status, out, err = run("gestures", "decode", "shipped", path, "--top", 1)
    lines = [line.split("\t") for line in out.splitlines()]
    assert status == 0 and not err and [len(fields) for fields in lines] == [3] * 4
    assert [fields[:2] for fields in lines[:3]] == [
        [r"don't\t7", "don't"], [r"café\t7", "café"], [r"a\tb\t7", r"a\tb"]
    ]  # fmt: skip
    assert [fields[2].split()[0] for fields in lines] == [row["word"] for row in rows]
    status, _, err = run("gestures", "evaluate", "shipped", path)
    assert status == 0 and "left out 3 malformed rows (line 1: layout 'qwerty' has no key" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["decode", "absent.safetensors", "DATA"], "absent.safetensors: there is no such file"),
        (["decode", "nosuch", "DATA"], "a model is a file, `shipped` or `generated`"),
        (["decode", "shipped", "absent.jsonl"], "cannot read 'absent.jsonl'"),
        (["decode", "shipped", "DATA", "--draws", 10**9], "draws = 1000000000 must be at most"),
        (["evaluate", "shipped", "DATA", "--draws", 10**12], "must be at most 10,000,000"),
        (["generate", "--noise", "-1"], "noise = -1.0"),
        (["generate", "--noise", "1e308"], "noise = 1e+308 must be between 0 and 10"),
        (["generate", "--layout", "absent.json"], "cannot read 'absent.json'"),
        (["evaluate", "shipped", "DATA", "--lexicon-size", "300000"], "1 to 288999"),
        (["generate", "--count", "0"], "count"),
        (["decode", "shipped", "DATA", "--hand", "absent.json"], "cannot read 'absent.json'"),
        (["evaluate", "shipped", "DATA", "--adapt", "5", "--draws", "9"], "--adapt goes with"),
        (["tune", "shipped", "DATA", "--out", "x"], "nothing to fit"),
        pytest.param(
            ["tune", "shipped", "DATA", "--doubt", "--out", "x"],
            "20 must have words that an open",
            marks=pytest.mark.thorough,
        ),
        (
            ["tune", "shipped", "DATA", "--out", "x", "--hands"],
            "too few people: by the field `user`, 6 here have 30 words of the lexicon or more, and "
            "it takes 20 of them",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_3(run, data, arguments, words):
    status, _, err = run("gestures", *(data if word == "DATA" else word for word in arguments))
    assert status == 3 and words in err and err.count("\n") == 1


def test_a_layout_that_cannot_be_used_is_named(run, data, tmp_path):
    from doeblin.gestures.data import Layout

    path, qwerty = tmp_path / "keys.json", Layout.qwerty().to_json()
    accent = {"letter": "é", "x": 2.5, "y": 0.5}
    path.write_text(json.dumps({**qwerty, "keys": [*qwerty["keys"], accent]}))
    status, _, err = run("gestures", "decode", "shipped", data, "--layout", path)
    assert status == 3 and "keys.json: " in err and "'e' and 'é' are at one place" in err
    path.write_text(json.dumps({**qwerty, "width": 10**400}))
    status, _, err = run("gestures", "generate", "--layout", path)
    assert status == 3 and "keys.json: " in err and "width is 1000" in err


@pytest.mark.thorough
def test_reproduce_makes_the_figure_and_the_table(run, tmp_path, monkeypatch):
    from doeblin.reproduce import gestures as _gestures

    tiny = _gestures.Size(
        budgets=(3, 5), words=30, many=0, dev=10, test=10, seeds=2, passes=1, steps=(0.2,)
    )
    monkeypatch.setattr(_gestures, "QUICK", tiny)
    command = ("reproduce", "gestures", "--quick", "--jobs", 1, "--out", tmp_path)
    status, out, _ = run(*command)
    assert status == 0 and "trie decoder" in out and "basic-gibbs" in out
    report = json.loads((tmp_path / "gestures.json").read_text())
    assert len(report["runs"]) == 3 * 2 + 4 + 2 + 4 + 2
    assert len(report["differences"]) == 4 * (2 * 2 + 1 + 3 + 4)
    for row in report["runs"]:
        assert 0 <= row["word"] <= row["character"] <= 1 and len(row["curve"]["word"]) == 1
    assert len(report["estimators"]["rows"]) == 7 and report["cpu_seconds"] > 0
    assert (tmp_path / "gestures.png").stat().st_size > 10_000
    # Finished cells are not run again, and a lost one comes out as before.
    lost, *_ = tmp_path.glob("cells-*/run-reversal-*-0-*.json")
    before = json.loads(lost.read_text())
    lost.unlink()
    status, _, err = run(*command)
    told = [line for line in err.splitlines() if "run-" in line]
    assert status == 0 and "1/1" in told[0] and len(told) == 1
    after = json.loads(lost.read_text())
    assert after["final"] == before["final"] and after["curve"] == before["curve"]
