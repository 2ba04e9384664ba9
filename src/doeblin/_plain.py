"""Run-time refusals from inside compiled code, said plainly, and once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import jax

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
        forget_errors()
        raise InputError(found[1]) from None


def forget_errors() -> None:
    """JAX keeps a device's error until that has done something else that can be heard of, and says
    it again where the process ends."""
    for device in jax.local_devices():
        with suppress(Exception), jax.default_device(device):  # what was raised counts
            _no_news()


@jax.jit
def _no_news() -> None:
    jax.debug.callback(lambda: None)
