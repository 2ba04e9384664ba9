"""What a command writes replaces nothing that it reads, and is looked at before the work begins."""

import json
import os
from pathlib import Path

import pytest

from doeblin.cli import main
from doeblin.gestures.data import Layout

ROW = {"word": "to", "kw": 360, "kh": 210, "x": [162, 306], "y": [30, 30], "t": [0, 200]}
SAFE = "int main() { int x = 0; while (x < 9) x++; assert(x == 9); return 0; }\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be in, with one file of each kind, and other names of some."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(json.dumps({**ROW, "user": "me"}) + "\n")
    Path("words.tsv").write_text("to\t5\nthe\t4\n")
    Path("keys.json").write_text(json.dumps(Layout.qwerty().to_json()))
    Path("safe.c").write_text(SAFE)
    Path("link").symlink_to("a.jsonl")
    os.link("words.tsv", "same.tsv")
    return tmp_path


def ended(capsys, command):
    with pytest.raises(SystemExit) as end:
        main(command.split())
    return end.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("train a.jsonl --out a.jsonl", "would overwrite DATA"),
        ("train a.jsonl --out ./link", "would overwrite DATA"),
        ("train link --out a.jsonl", "would overwrite DATA"),
        ("train a.jsonl --out m --checkpoint a.jsonl", "would overwrite DATA"),
        ("train a.jsonl --lexicon words.tsv --out same.tsv", "would overwrite the lexicon"),
        ("train a.jsonl --layout keys.json --out keys.json", "would overwrite the layout"),
        ("train a.jsonl --checkpoint z --out z", "overwrite the file of --out"),
        ("train a.jsonl --checkpoint z --out ./z", "overwrite the file of --out"),
        (
            "train a.jsonl --neural-restart --checkpoint z --out z.network",
            "--checkpoint (with .network) 'z.network' would overwrite the file of --out",
        ),
        ("tune shipped a.jsonl --sharpness --out a.jsonl", "would overwrite DATA"),
        ("generate --lexicon words.tsv --out words.tsv", "would overwrite the lexicon"),
        ("generate --layout keys.json --out keys.json", "would overwrite the layout"),
        ("adapt shipped a.jsonl --hand link", "would overwrite DATA"),
    ],
)
def test_no_output_replaces_an_input(folder, capsys, command, what):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    status, said = ended(capsys, f"gestures {command}")
    assert status == 3 and what in said and "choose another name" in said
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_nor_do_results_that_are_kept(folder, capsys):
    Path("empty.c").touch()
    for command in ("verify empty.c safe.c", "bench verify . --no-peers"):
        status, said = ended(capsys, f"{command} --resume empty.c")
        assert status == 3 and "--resume 'empty.c' would overwrite empty.c" in said
    assert Path("empty.c").read_text() == ""


@pytest.mark.parametrize(
    "command",
    [
        "gestures train a.jsonl --out no/such/m.st",
        "gestures train a.jsonl --out m.st --checkpoint no/such/c",
        "gestures tune shipped a.jsonl --sharpness --out no/such/m.st",
        "gestures generate --out no/such/g.jsonl",
        "gestures adapt shipped a.jsonl --hand no/such/me.json",
        "verify safe.c --certificate no/such/p.smt2",
    ],
)
def test_a_folder_that_is_not_there_is_said_before_the_work(folder, capsys, monkeypatch, command):
    def work(*_: object, **__: object) -> None:
        raise AssertionError("it began")

    for place in ("data.read_gestures", "data.Generator.sample", "decoder.Model.load"):
        monkeypatch.setattr(f"doeblin.gestures.{place}", work)
    monkeypatch.setattr("doeblin.programs.read_program", work)
    before = sorted(os.listdir())
    status, said = ended(capsys, command)
    assert status == 74 and "cannot write 'no/such/" in said and "No such file" in said
    assert sorted(os.listdir()) == before


def test_what_is_updated_in_place_is(folder, capsys):
    """A hand and a model may be their own successors, also through a link; devices are for all."""
    Path("me.json").symlink_to("hand.json")
    for times in (1, 2):
        status, _ = ended(capsys, "gestures adapt shipped a.jsonl --hand me.json --lexicon-size 50")
        assert status == 0 and Path("me.json").is_symlink()
        assert json.loads(Path("hand.json").read_text())["counts"] == {"to": times}
    status, said = ended(capsys, "gestures tune m.st a.jsonl --sharpness --out m.st")
    assert (
        status == 3 and "m.st: there is no such file" in said
    )  # it may be the same, were it there
    assert ended(capsys, "gestures generate --count 1 --out /dev/null")[0] == 0
