"""What people see who wait, on a terminal, and that nobody else sees it."""

import contextlib
import json
import os
import pty
import re
import sys
import threading
import time

import pytest

from doeblin.cli import _progress, main
from doeblin.cli._console import say_compiling
from doeblin.cli._progress import Waiting, make_way, stage_of
from doeblin.programs import Asked, Note

from .test_ends import HARD

GONE = "\r\x1b[K"
TAKEN_BACK = re.escape(GONE)


@contextlib.contextmanager
def terminal(monkeypatch, patience=0.0):
    """Standard error on a terminal, for people without patience; gives what they see."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    monkeypatch.setattr(_progress, "PATIENCE", patience)
    monkeypatch.setattr(_progress, "_EVERY", 0.02)

    def seen() -> str:
        found = b""
        while True:
            try:
                found += os.read(ours, 1 << 16)
            except BlockingIOError:
                return found.decode()

    with os.fdopen(theirs, "w", buffering=1) as stream, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        yield seen
    os.close(ours)


def ended(capsys, *arguments) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0), capsys.readouterr().out


def test_a_proof_says_what_it_does_and_takes_it_back(monkeypatch, capsys, tmp_path):
    (tmp_path / "hard.c").write_text(HARD)
    with terminal(monkeypatch) as seen:
        status, out = ended(capsys, "verify", tmp_path / "hard.c", "--timeout", 0.4, "--json")
        said = seen()
    assert status == 2 and json.loads(out)["verdict"] == "UNKNOWN"
    assert re.search(r"\r(reading|proving) .*hard\.c.*, 0 of 0\.4 s\x1b\[K", said)
    assert "\n" not in said and said.endswith(GONE) and said.count("\r\x1b[K") == 1


def test_gestures_say_what_they_are_at(monkeypatch, capsys, tmp_path):
    path = tmp_path / "made.jsonl"
    assert ended(capsys, "gestures", "generate", "--count", 3, "--out", path)[0] == 0
    with terminal(monkeypatch) as seen:
        status, out = ended(capsys, "gestures", "decode", "shipped", path, "--json")
        said = seen()
    assert status == 0 and [json.loads(row)["id"] for row in out.splitlines()] == ["0", "1", "2"]
    assert re.search(r"\rreading .*made\.jsonl, 0 s\x1b\[K" + TAKEN_BACK, said)
    assert re.search(r"\rdecod\w+.*, 0 s\x1b\[K" + TAKEN_BACK, said)
    assert said.endswith(GONE)


def test_what_is_printed_has_the_terminal_for_itself(monkeypatch):
    with terminal(monkeypatch) as seen:
        waiting = Waiting("counting\x1b[31m" + 200 * "!")
        waiting.tick()
        first = seen()
        assert first.startswith("\rcounting\\x1b[31m!!") and first.endswith("\x1b[K")
        assert len(first) < 90
        make_way(err=True)
        make_way(err=True)
        assert seen() == GONE
        time.sleep(0.03)
        waiting.tick()
        assert "counting" in seen()
        waiting.stop()
        waiting.tick()
        assert seen() == GONE


def test_nothing_comes_early(monkeypatch):
    with terminal(monkeypatch, patience=2.0) as seen:
        monkeypatch.setattr(Waiting, "quiet_since", time.monotonic())
        with Waiting("waiting") as waiting:
            waiting.tick()
        assert seen() == ""
        monkeypatch.setattr(Waiting, "quiet_since", time.monotonic() - 3)
        waiting = Waiting("waiting")
        waiting.tick()
        assert seen() == "\rwaiting, 0 s\x1b[K"
        waiting.stop()


def test_where_nobody_looks_there_is_neither_line_nor_thread(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    before = threading.active_count()
    with Waiting("waiting") as waiting:
        waiting.tick()
        assert threading.active_count() == before
    assert capsys.readouterr() == ("", "")


def test_stages_are_a_few_words():
    assert stage_of(Note("lemmas", "3 new bounds")) == "lemmas: 3 new bounds"
    assert stage_of(Asked(2, (), False, 5, 1, 4, 0, 0, 0.1)) == "round 2, 10 examples"


def test_people_who_wait_for_two_parts_are_told_that_there_is_more(capsys):
    for about in (10.0, 3.0):
        say_compiling(about)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("compiling once, about 10 s")
    assert second == "compiling once, about 3 s more"
