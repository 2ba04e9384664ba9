"""Annotated types and shapes of arrays, checked at every call of the library.

On in `make test`'s second part. What is annotated otherwise is left to pyright, so that tests may
hand over what the library has to refuse itself.
"""

from __future__ import annotations

import typing
from typing import Any

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, install_import_hook

PACKAGES = ("doeblin.chains", "doeblin.kernels", "doeblin.learning")


def install() -> None:
    """Before doeblin is imported."""
    install_import_hook(PACKAGES, "tests.shapes.arrays")


def arrays(function: Any) -> Any:
    """beartype for the annotations that are of arrays."""
    if isinstance(function, type):
        return function
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:  # Names that are there for the type checker only.
        return function
    function.__annotations__ = {
        name: hint if _is_array(hint) else Any for name, hint in hints.items()
    }
    return beartype(function, conf=BeartypeConf(is_pep484_tower=True))


def _is_array(hint: Any) -> bool:
    if typing.get_args(hint):
        return any(_is_array(part) for part in typing.get_args(hint))
    return isinstance(hint, type) and issubclass(hint, AbstractArray)
