"""doeblin: Markov chains with guarantees.

Everything here loads on first use, so that what needs no JAX never imports it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import InputError as InputError
from ._errors import MissingExtraError as MissingExtraError
from ._errors import UnsupportedError as UnsupportedError
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import chains as chains
    from . import crf as crf
    from . import factors as factors
    from . import finite as finite
    from . import formulas as formulas
    from . import gestures as gestures
    from . import kernels as kernels
    from . import learning as learning
    from . import programs as programs
    from . import schedules as schedules
    from .chains import Chain as Chain
    from .chains import doeblin as doeblin
    from .chains import staged as staged
    from .schedules import Certificate as Certificate
    from .schedules import Schedule as Schedule
    from .schedules import certify as certify

_MODULES = {
    "chains",
    "crf",
    "factors",
    "finite",
    "formulas",
    "gestures",
    "kernels",
    "learning",
    "programs",
    "schedules",
}
_NAMES = {
    "Certificate": "schedules",
    "Chain": "chains",
    "Schedule": "schedules",
    "certify": "schedules",
    "doeblin": "chains",
    "staged": "chains",
}

__all__ = ["InputError", "MissingExtraError", "UnsupportedError", "__version__"]
__all__ += [*_MODULES, *_NAMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _MODULES and name not in _NAMES:
        raise AttributeError(f"module 'doeblin' has no attribute {name!r}")
    try:
        module = importlib.import_module(f"doeblin.{_NAMES.get(name, name)}")
    except ModuleNotFoundError as error:
        raise MissingExtraError.explaining(error) or error from None
    return getattr(module, name) if name in _NAMES else module


def __dir__() -> list[str]:
    return sorted(__all__)
