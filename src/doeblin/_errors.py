"""Errors that speak to people: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import NamedTuple


class Place(NamedTuple):
    """Where in a file something is; printed as `file:line:column`, as compilers do."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


class InputError(ValueError):
    """Input that cannot be used. The message names the value, the place and the remedy.

    The command line prints it as one line and exits with status 3.
    """

    def __init__(self, message: str, *, place: Place | None = None):
        super().__init__(message)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class OutputError(OSError):
    """Output that could not be written; the command line exits with status 74."""

    def __init__(self, path: object, reason: str):
        super().__init__(f"cannot write '{path}': {reason}")


class UnsupportedError(TypeError):
    """An operation that mathematics (or the user's parts) does not give; says why."""


class MissingExtraError(ImportError):
    """An optional part of doeblin is not installed; the message says how to install it."""

    def __init__(self, module: str, extra: str):
        super().__init__(
            f"this needs the package '{module}', which is not installed; "
            f"install it with: pip install 'doeblin[{extra}]'",
            name=module,
        )
        self.module = module
        self.extra = extra

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.module, self.extra)  # it comes back from worker processes, too

    @classmethod
    def explaining(cls, error: ModuleNotFoundError) -> MissingExtraError | None:
        """The same error, if it is for want of one of our optional packages."""
        module = (error.name or "").split(".")[0]
        return cls(module, _EXTRA_OF[module]) if module in _EXTRA_OF else None


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """For imports that an extra brings: where a package is missing, the error names the extra."""
    try:
        yield
    except MissingExtraError as error:
        raise MissingExtraError(error.module, extra) from None
    except ModuleNotFoundError as error:
        explained = MissingExtraError.explaining(error)
        raise (MissingExtraError(explained.module, extra) if explained else error) from None


def require(extra: str, *modules: str) -> None:
    """Ask for packages before the work that needs them begins."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(module, extra)


_EXTRA_OF = {
    "arviz": "interop",
    "blackjax": "interop",
    "distributed": "cluster",
    "equinox": "chains",
    "jax": "chains",
    "jaxtyping": "chains",
    "matplotlib": "plots",
    "numba": "formulas",
    "optax": "chains",
    "fastapi": "serve",
    "pycparser": "verify",
    "safetensors": "learning",
    "uvicorn": "serve",
    "z3": "verify",
}
