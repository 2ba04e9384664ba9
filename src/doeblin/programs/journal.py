"""Results on file, a line of JSON each, so that a run that was stopped can go on.

A line is used again only for the same bytes, asked about in the same way by the same version: what
a program means may depend on files that it includes, so the folder counts where it may include any.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .._errors import InputError, OutputError, Place
from .._files import MEBIBYTE, read_bytes
from .._version import __version__
from .verdict import Outcome

_LARGEST = 1024 * MEBIBYTE
_MARK = "asked"
_VERDICTS = ("ERROR", *(outcome.value for outcome in Outcome))


class Journal:
    """The results in `path`, where there are any; new ones are added at its end."""

    def __init__(self, path: Path, paths: Sequence[Path], options: dict[str, Any], ints: str):
        self._path = path
        settings = _told((__version__, options, ints))
        rows = _rows(path)
        folder = functools.cache(functools.partial(_folder, path))  # for as long as this takes
        self._marks = [_mark(each, settings, folder) for each in paths]
        known = {(row["file"], row.get(_MARK)): row for row in rows}
        found = [
            known.get((str(each), mark)) for each, mark in zip(paths, self._marks, strict=True)
        ]
        # An error may be that of a machine, which has other folders than the next.
        self.done = {
            n: _unmarked(row)
            for n, row in enumerate(found)
            if row is not None and row["verdict"] != "ERROR"
        }
        """Results by the position of their file."""
        self._open()

    def add(self, position: int, result: dict[str, Any]) -> None:
        """Keep one more result; when this returns, it is on its way to the disk."""
        self._write(json.dumps(result | {_MARK: self._marks[position]}) + "\n")

    def _open(self) -> None:
        """A line that was cut off when its writer was killed is ended."""
        try:
            whole = not self._path.exists() or self._path.read_bytes()[-1:] in (b"", b"\n")
        except OSError as error:
            raise OutputError(self._path, error.strerror or str(error)) from None
        self._write("" if whole else "\n")

    def _write(self, text: str) -> None:
        """In one piece, so that lines of two runs do not mix."""
        try:
            with self._path.open("ab", buffering=0) as file:
                file.write(text.encode())
        except OSError as error:
            raise OutputError(self._path, error.strerror or str(error)) from None


def _unmarked(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != _MARK}


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    found = []
    lines = read_bytes(path, most=_LARGEST).split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row: Any = None
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            if line.startswith(b'{"'):
                continue  # cut off, when its writer was killed
        try:
            if not isinstance(row["file"], str) or row["verdict"] not in _VERDICTS:
                raise TypeError
            row["seconds"] = float(row["seconds"])
            row["reason"] = str(row["reason"])
        except (ValueError, TypeError, KeyError):
            raise InputError(
                "this is no file of results, such as --resume writes",
                place=Place(str(path), number),
            ) from None
        found.append(row)
    return found


def _told(value: Any) -> str:
    """In words that are the same in every process: sets have no order of their own."""
    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(map(_told, value)))}}}"
    if isinstance(value, dict):
        return _told({(name, _told(item)) for name, item in value.items()})
    if isinstance(value, tuple | list):
        return f"({','.join(map(_told, value))})"
    if dataclasses.is_dataclass(value):
        return type(value).__name__ + _told(vars(value))
    return repr(value)


def _mark(path: Path, settings: str, folder: Callable[[Path], str]) -> str:
    """What the result of a file depends on."""
    digest = hashlib.sha256(settings.encode())
    try:
        text = read_bytes(path)
    except InputError:
        return ""  # it will be said when the file is verified
    digest.update(text)
    if b"include" in text and b'"' in text:
        digest.update(folder(path.parent).encode())
    return digest.hexdigest()[:32]


def _folder(journal: Path, folder: Path) -> str:
    """A digest of all that a program in this folder may include."""
    digest = hashlib.sha256()
    own = os.path.realpath(journal)
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.realpath(path) == own:
                continue
            digest.update(os.fsencode(path) + b"\0")
            with contextlib.suppress(InputError):  # what cannot be read cannot be included
                digest.update(hashlib.sha256(read_bytes(path)).digest())
    return digest.hexdigest()
