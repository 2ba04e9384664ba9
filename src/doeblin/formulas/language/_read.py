"""Reading examples from CSV and JSON; every refusal names the row and the column."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from ..._errors import InputError, Place
from ..._files import read_bytes
from ._examples import LARGEST, Examples

_TRUE, _FALSE = ("true", "t", "yes", "1", "+"), ("false", "f", "no", "0", "-")
_NAME = re.compile(r"[^\W\d]\w*\Z")
_RESERVED = ("and", "or", "not", "true", "false", "True", "False")
WEIGHT = "weight"


def read_examples(path: str | Path, *, label: str | None = None) -> Examples:
    """Examples from a `.csv` or `.json` file.

    CSV: a header, integer columns and one column of True/False (the last one whose values all read
    as truth values, or the one named `label`); a column `weight` holds positive integers.

    JSON: a list of such rows as objects, or an object with `examples`, that list, and
    `implications`, a list of objects with `if` and `then`, each a row without label.
    """
    data = read_bytes(path, pipes=True)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", place=Place(str(path))) from None
    return read_stream(io.StringIO(text, newline=""), str(path), label=label)


def read_stream(stream: TextIO, name: str, *, label: str | None = None) -> Examples:
    """As `read_examples`, from an open stream; JSON is told by its first character."""
    text = stream.read()
    if not text.strip():
        raise InputError("the file is empty; it needs a header and rows", place=Place(name))
    if text.lstrip()[0] in "[{":
        return _from_json(text, name, label)
    return _from_csv(text, name, label)


def _from_csv(text: str, name: str, label: str | None) -> Examples:
    # `newline=''` and the csv module together keep line numbers right for quoted line breaks.
    reader = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    header: list[str] | None = None
    rows: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{len(cells)} values, but the header has {len(header)} columns",
                    place=Place(name, reader.line_num),
                )
            rows.append((reader.line_num, [cell.strip() for cell in cells]))
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", place=Place(name, reader.line_num)) from None
    assert header is not None
    if not rows:
        raise InputError("there are no rows below the header", place=Place(name))
    if any(re.fullmatch(r"[-+]?\d+", cell) for cell in header):
        raise InputError(
            "the first line must name the columns, for example: x1,x2,f", place=Place(name, 1)
        )
    target = _label_column(header, [cells for _, cells in rows], name, label)
    named = [(Place(name, line), dict(zip(header, cells, strict=True))) for line, cells in rows]
    return _examples(header, header[target], named, [], name)


def _from_json(text: str, name: str, label: str | None) -> Examples:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}", place=Place(name, error.lineno, error.colno)
        ) from None
    except RecursionError:
        raise InputError("not JSON: nested too deeply", place=Place(name)) from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"not JSON: {error}", place=Place(name)) from None
    rows = value.get("examples", []) if isinstance(value, dict) else value
    implications = value.get("implications", []) if isinstance(value, dict) else []
    for kind, part in (("examples", rows), ("implications", implications)):
        if not isinstance(part, list) or not all(isinstance(row, dict) for row in part):
            raise InputError(f"{kind!r} must be a list of objects", place=Place(name))
    named = [(Place(f"{name}: example {k + 1}"), row) for k, row in enumerate(rows)]
    pairs = []
    for k, row in enumerate(implications):
        place = Place(f"{name}: implication {k + 1}")
        if not isinstance(row.get("if"), dict) or not isinstance(row.get("then"), dict):
            raise InputError("needs the objects 'if' and 'then'", place=place)
        pairs.append((place, row["if"], row["then"]))
    if not named and not pairs:
        raise InputError("there are no examples", place=Place(name))
    header = list(named[0][1]) if named else [*pairs[0][1], ""]
    for place, row in named:
        missing = [column for column in header if row.get(column) is None]
        extra = [column for column in row if column not in header]
        if missing or extra:
            fault = "the value is missing" if missing else "not in the first row"
            raise InputError(f"column {(missing or extra)[0]!r}: {fault}", place=place)
    if not named:
        return _examples(header, "", named, pairs, name)
    columns = [[row[column] for column in header] for _, row in named]
    target = _label_column(header, columns, name, label)
    return _examples(header, header[target], named, pairs, name)


def _label_column(
    header: Sequence[str], rows: Sequence[Sequence[Any]], name: str, label: str | None
) -> int:
    if label is not None:
        if label not in header:
            raise InputError(
                f"there is no column {label!r}; the columns are {', '.join(header)}",
                place=Place(name),
            )
        return header.index(label)
    truths = [k for k in range(len(header)) if all(_is_word(row[k]) for row in rows)]
    if not truths:
        # A column of 0 and 1 is only taken for truth values when nothing says True or False.
        truths = [
            k for k in range(len(header))
            if header[k] != WEIGHT and all(_truth(row[k]) is not None for row in rows)
        ][-1:]  # fmt: skip
    if len(truths) == 1:
        return truths[0]
    if truths:
        names = ", ".join(header[k] for k in truths)
        raise InputError(
            f"{len(truths)} columns hold truth values ({names}); name the one to explain with "
            "--label",
            place=Place(name),
        )
    worst = max(range(len(header)), key=lambda k: sum(_is_word(row[k]) for row in rows))
    row = next(k for k, row in enumerate(rows) if _truth(row[worst]) is None)
    raise InputError(
        f"no column holds only True and False; column {header[worst]!r} has "
        f"{rows[row][worst]!r} in row {row + 1}",
        place=Place(name),
    )


def _examples(
    header: Sequence[str],
    target: str,
    rows: Iterable[tuple[Place, Mapping[str, Any]]],
    pairs: Iterable[tuple[Place, Mapping[str, Any], Mapping[str, Any]]],
    name: str,
) -> Examples:
    variables = [column for column in header if column not in (target, WEIGHT)]
    if len(set(header)) != len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise InputError(f"two columns are called {twice!r}", place=Place(name, 1))
    if not variables:
        raise InputError("there is no integer column besides the labels", place=Place(name))
    for column in variables:
        if not _NAME.match(column) or column in _RESERVED:
            raise InputError(
                f"column {column!r} is not a variable name; use letters, digits and _",
                place=Place(name, 1, header.index(column) + 1),
            )
    points, labels, weights = [], [], []
    for place, row in rows:
        points.append([_integer(row[v], v, place) for v in variables])
        truth = _truth(row[target])
        if truth is None:
            raise InputError(
                f"column {target!r}: {_shown(row[target])} is not True or False", place=place
            )
        labels.append(truth)
        weight = _integer(row[WEIGHT], WEIGHT, place) if WEIGHT in row else 1
        if weight < 1:
            raise InputError(f"column {WEIGHT!r}: {weight} is not positive", place=place)
        weights.append(weight)
    implications = [
        [[_integer(side.get(v), v, place) for v in variables] for side in (source, target_)]
        for place, source, target_ in pairs
    ]
    return Examples(
        points, [bool(truth) for truth in labels], variables=variables, weights=weights,
        implications=implications,
    )  # fmt: skip


def _is_word(value: Any) -> bool:
    """Whether the value says True or False in words, so that it cannot be a number."""
    return isinstance(value, bool) or (
        isinstance(value, str)
        and value.strip().lower() in (*_TRUE, *_FALSE)
        and value.strip() not in ("0", "1", "+", "-")
    )


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _integer(value: Any, column: str, place: Place) -> int:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise InputError(f"column {column!r}: the value is missing", place=place)
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and re.fullmatch(r"[-+]?\d+", value.strip()):
        # Python refuses to read absurdly long numerals; they are out of range anyway.
        number = int(value) if len(value) < 1000 else LARGEST + 1
    if number is None:
        raise InputError(f"column {column!r}: {_shown(value)} is not an integer", place=place)
    if abs(number) > LARGEST:
        raise InputError(
            f"column {column!r}: {_shown(value)} is too large (integers up to ±2^53 = {LARGEST})",
            place=place,
        )
    return number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
