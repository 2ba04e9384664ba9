"""The header of a model file: each field must be there, and be what it should be.

Nothing is taken for granted: with a field of another meaning a model would decode, but otherwise.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..._errors import InputError
from ..._json import as_written, parsed, shown
from ..data import Layout
from ._settings import Settings
from ._tensors import REMEDY

FORMAT = "doeblin-gestures-1"


class _Kind(NamedTuple):
    said: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_numbers(count: int) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) == count and all(map(_is_number, value))
    )


def _is_doubt(value: Any) -> bool:
    return value is None or _is_numbers(3)(value)


def _is_settings(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {each.name for each in fields(Settings)}:
        return False
    Settings(**value)  # which says what is wrong
    return True


def _is_layout(value: Any) -> bool:
    """As it was written, so that nothing in it is made up."""
    return Layout.from_json(value).to_json() == value


_NUMBER = _Kind("a finite number", _is_number)
_OBJECT = _Kind("an object", lambda value: isinstance(value, dict))
_TEXTS = _Kind("a list of names", _is_texts)
_ALWAYS = {
    "format": _Kind("a text", lambda value: isinstance(value, str)),
    "layout": _Kind("an object with name, width, height, aspect and keys", _is_layout),
    "settings": _Kind(
        f"an object with {', '.join(each.name for each in fields(Settings))}", _is_settings
    ),
    "epsilon": _NUMBER,
    "spelling": _Kind("a list of two finite numbers", _is_numbers(2)),
    "factors": _TEXTS,
    "about": _OBJECT,
}
_FIELDS = _ALWAYS | {
    "log_openness": _NUMBER,
    "rectified": _TEXTS,
    "sharpness": _NUMBER,
    "doubt": _Kind("null or a list of three finite numbers", _is_doubt),
    "digest": _Kind("a text", lambda value: isinstance(value, str)),
}
# Those of 0.1 have another openness, which meant something else, and these values by nature.
_FIRST_FIELDS = _ALWAYS | {"openness": _NUMBER}
_FIRST_VALUES = {
    "log_openness": -6.0,
    "rectified": [],
    "sharpness": 1.0,
    "doubt": None,
    "digest": None,
}


def read_header(source: str) -> dict[str, Any]:
    """The fields of a header, also of one that 0.1 wrote."""
    try:
        header = parsed(source, once=True)
    except InputError as error:
        raise InputError(f"its header cannot be used: {error.message}: {REMEDY}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"not a gesture model: its header has no format {FORMAT!r}")
    first = "openness" in header
    known = _FIRST_FIELDS if first else _FIELDS
    with as_written():
        for name, kind in known.items():
            if name not in header:
                raise InputError(f"its header has no field {name!r}, {kind.said}: {REMEDY}")
            _check(name, kind, header[name])
    if others := [name for name in header if name not in known]:
        raise InputError(f"its header has a field {shown(others[0])} too many: {REMEDY}")
    return header | _FIRST_VALUES if first else header


def digest_of(header: dict[str, Any], tensors: Mapping[str, NDArray]) -> str | None:
    """Of all fields, and of which tensors there are: a layer that is missing could not be seen.

    None for files of 0.1, which have none.
    """
    if "openness" in header:
        return None
    told = {name: value for name, value in header.items() if name != "digest"}
    shapes = {name: values.shape for name, values in tensors.items()}
    text = json.dumps([told, shapes], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _check(name: str, kind: _Kind, value: Any) -> None:
    try:
        if kind.holds(value):
            return
        reason = f"is {shown(value)}; it must be {kind.said}"
    except InputError as error:
        reason = f"cannot be used: {error.message}"
    raise InputError(f"the field {name!r} of its header {reason}: {REMEDY}")
