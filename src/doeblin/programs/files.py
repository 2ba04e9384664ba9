"""Which files are meant by the names that a user gives."""

from __future__ import annotations

import os
from pathlib import Path

from .._errors import InputError
from ._program import LANGUAGES


def find_files(paths: list[str]) -> list[Path]:
    """The files that these names mean; folders are searched for programs, recursively."""
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if not name:
            raise InputError("a file name is empty")
        if os.path.isdir(path):
            inside = sorted(p for p in path.rglob("*") if p.suffix in LANGUAGES and p.is_file())
            if not inside:
                raise InputError(
                    f"there is no program ({', '.join(LANGUAGES)}) in the folder '{path}'"
                )
            found += inside
        elif os.path.exists(path):  # which knows names that are too long
            found.append(path)
        else:
            raise InputError(f"there is no file '{path}'")
    return found
