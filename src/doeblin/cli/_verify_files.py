"""The files that `doeblin verify` writes: checked before the work, written whole after it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._errors import InputError
from .._files import write_text

OUTPUTS = ("acsl", "witness", "certificate", "test")


def check_targets(sources: list[Path], options: dict[str, Any]) -> None:
    """No output may replace a source or another output."""
    taken = [(str(path), path) for path in sources]
    for name in OUTPUTS:
        target = options[name]
        if not target or _special(target):
            continue
        for what, other in taken:
            if _same(other, target):
                raise InputError(f"--{name} would overwrite {what}: choose another name")
        taken.append((f"the file of --{name}", Path(target)))


def _special(path: str) -> bool:
    """A pipe or device, which several outputs may share."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _same(first: Path, second: str) -> bool:
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return os.path.realpath(first) == os.path.realpath(second)


def write_outputs(program: Any, verdict: Any, options: dict[str, Any]) -> Iterator[str]:
    """What was written; a file for the other verdict is mentioned as not written."""
    from ..programs import output

    writers = (
        ("acsl", ("SAFE",), output.acsl),
        ("witness", ("SAFE", "UNSAFE"), output.witness),
        ("certificate", ("SAFE",), output.certificate),
        ("test", ("UNSAFE",), output.driver),
    )
    for name, verdicts, make in writers:
        target = options[name]
        if not target:
            continue
        if verdict.outcome.value not in verdicts:
            yield f"not written: {target} (--{name} is for {' and '.join(verdicts)})"
            continue
        try:
            text = make(program, verdict)
        except InputError as error:  # the verdict stands
            yield f"not written: {target} ({error})"
            continue
        remark = ""
        if name == "test":
            held, remark = output.run_driver(text, verdict)
            if not held:
                yield f"not written: {target} ({remark})"
                continue
        write_text(target, text)
        yield f"wrote {target}{f' ({remark})' if remark else ''}"
