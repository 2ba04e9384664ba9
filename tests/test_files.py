"""Files from others are bounded, and files for others are whole."""

import gzip
import os
import threading

import pytest

from doeblin import _files
from doeblin._errors import InputError, OutputError
from doeblin._files import gunzip, read_text, write_text
from doeblin._text import json_text, visible


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x" * (1 << 20) + b"y", "more than 1 MiB"),
        (b"int x;\nint \0y;", "2:5: a NUL character"),
        ("int x;".encode("utf-16"), "UTF-16"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, data, message):
    path = tmp_path / "a.c"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_text(path, most=1 << 20)


def test_marks_and_strange_bytes(tmp_path):
    path = tmp_path / "a.c"
    path.write_bytes(b"\xef\xbb\xbfint x; // \xff\r\nint y;\r")
    assert read_text(path) == "int x; // \ufffd\nint y;\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_and_devices_are_read_only_where_that_is_meant(tmp_path):
    pipe = tmp_path / "pipe.c"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, "/dev/zero"):
        with pytest.raises(InputError, match="cannot read"):
            read_text(path)
    with pytest.raises(InputError, match="more than 1 MiB"):
        read_text("/dev/zero", most=1 << 20, pipes=True)
    threading.Thread(target=lambda: pipe.write_text("hello"), daemon=True).start()
    assert read_text(pipe, pipes=True) == "hello"


def test_a_gzip_bomb_stays_packed():
    bomb = gzip.compress(b"\0" * (8 << 20))
    assert len(bomb) < 10_000
    place = _files.Place("b.gz")
    with pytest.raises(InputError, match=r"b\.gz: it unpacks to more than 1 MiB"):
        gunzip(bomb, place, most=1 << 20)
    with pytest.raises(InputError, match="more than 1 MiB"):  # many small members
        gunzip(gzip.compress(b"\0" * (1 << 18)) * 5, place, most=1 << 20)
    assert gunzip(gzip.compress(b"a") + gzip.compress(b"b"), place) == b"ab"
    for damaged in (bomb[:-9], b"\x1f\x8bno", gzip.compress(b"a")[:-1]):
        with pytest.raises(InputError, match="damaged"):
            gunzip(damaged, place)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left"):
        _files.write(path, fail)
    assert path.read_text() == "old" and sorted(os.listdir(tmp_path)) == ["a.txt", "link"]
    write_text(link, "new \udcff")
    assert link.is_symlink() and path.read_bytes() == b"new \\udcff"
    assert path.stat().st_mode & 0o777 == 0o640
    write_text("/dev/null", "x")
    assert not os.path.isfile("/dev/null")
    for wrong in (tmp_path / "no" / "such", tmp_path, "a\0b"):
        with pytest.raises(OutputError, match="cannot write"):
            write_text(wrong, "x")


def test_nothing_printed_moves_a_cursor():
    text = "a\x1b[2Jb\nc\r\u202ed\x9b31m\udcffé∀\tz"
    shown = visible(text)
    assert shown == "a\\x1b[2Jb\\nc\\r\\u202ed\\x9b31m\\udcffé∀\tz"
    assert json_text({"a": text}).isprintable()
    import json

    assert json.loads(json_text({"a": text + "\U000e0001"})) == {"a": text + "\U000e0001"}
