"""Run-time refusals from inside compiled code, said plainly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ._errors import InputError


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn Equinox's report of a failed run-time check into an InputError with its message only."""
    try:
        yield
    except RuntimeError as error:
        found = re.search(r"EquinoxRuntimeError: (.+)", str(error))
        if found is None:
            raise
        raise InputError(found[1]) from None
