"""The files that a command writes, looked at before its work begins."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from .._errors import InputError, OutputError

Named = Mapping[str, str | Path | None]
"""Files by what they are called in messages; None where there is none."""


def check_outputs(outputs: Named, inputs: Named) -> None:
    """No output may replace an input or another output, and its folder is there.

    An output is called by its option. What is updated in place is no input here.
    """
    taken = {what: path for what, path in inputs.items() if path is not None}
    for option, target in outputs.items():
        if target is None or _is_special(target):
            continue
        for what, other in taken.items():
            if same_file(other, target):
                raise InputError(f"{option} '{target}' would overwrite {what}: choose another name")
        folder = os.path.dirname(os.path.realpath(target))
        if not os.path.isdir(folder):
            raise OutputError(target, os.strerror(errno.ENOENT))
        if not os.access(folder, os.W_OK):
            raise OutputError(target, os.strerror(errno.EACCES))
        taken[f"the file of {option}"] = target


def same_file(first: str | Path, second: str | Path) -> bool:
    """Do both names stand for one file, also one that is not there yet?"""
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return os.path.realpath(first) == os.path.realpath(second)


def _is_special(path: str | Path) -> bool:
    """A pipe or device, which several outputs may share."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
