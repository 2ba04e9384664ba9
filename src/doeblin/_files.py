"""Files from and for others: what is read is bounded, what is written is whole."""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ._errors import InputError, OutputError, Place

MEBIBYTE = 1 << 20
LARGEST = 256 * MEBIBYTE


def read_bytes(path: str | Path, *, most: int = LARGEST, pipes: bool = False) -> bytes:
    """The content of a file of at most `most` bytes; of a pipe or device only if `pipes`."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        # Opening a pipe that nobody writes to would wait for ever.
        number = os.open(path, flags | (0 if pipes else getattr(os, "O_NONBLOCK", 0)))
        with os.fdopen(number, "rb") as file:
            mode = os.fstat(number).st_mode
            if not (stat.S_ISREG(mode) or pipes):
                kind = "pipe" if stat.S_ISFIFO(mode) else "device"
                raise InputError(f"cannot read '{path}': it is a {kind}, not a regular file")
            data = file.read(most + 1)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("a file name cannot contain a NUL character") from None
    except OSError as error:
        raise InputError(f"cannot read '{path}': {error.strerror}") from None
    if len(data) > most:
        raise InputError(f"cannot read '{path}': it has more than {most // MEBIBYTE} MiB")
    return data


def gunzip(data: bytes, place: Place, *, most: int = LARGEST) -> bytes:
    """What was compressed, if it is no more than `most` bytes; all members of the file."""
    found = bytearray()
    while data:
        unpack = zlib.decompressobj(wbits=31)
        try:
            found += unpack.decompress(data, most + 1 - len(found))
        except zlib.error as error:
            raise InputError(f"a damaged gzip file: {error}", place=place) from None
        if len(found) > most:
            raise InputError(f"it unpacks to more than {most // MEBIBYTE} MiB", place=place)
        if not unpack.eof:
            raise InputError("a damaged gzip file: it ends early", place=place)
        data = unpack.unused_data.lstrip(b"\0")
    return bytes(found)


def read_text(path: str | Path, *, most: int = LARGEST, pipes: bool = False) -> str:
    """Text in UTF-8, with or without a byte order mark; bytes that are not become U+FFFD."""
    return decode(read_bytes(path, most=most, pipes=pipes), str(path))


def decode(data: bytes, file: str) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("this is UTF-16; save it as UTF-8", place=Place(file))
    text = data.decode("utf-8-sig", errors="replace")
    if (at := text.find("\0")) >= 0:
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        raise InputError("a NUL character: this is no text", place=Place(file, line, column))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_text(path: str | Path, text: str) -> None:
    """Replace a file by this text, all or nothing; a pipe or device is simply written to."""
    write(path, lambda file: file.write(text.encode("utf-8", errors="backslashreplace")))


def write(path: str | Path, fill: Callable[[IO[bytes]], Any]) -> None:
    """Replace a file by what `fill` writes, all or nothing. Raises OutputError."""
    beside = None
    try:
        target = os.path.realpath(path)  # a link stays one, and what it points to is replaced
        folder, name = os.path.split(target)
        beside = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(target, "wb") as file:
                fill(file)
            return
        with open(beside, "xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, target)
        _sync(folder)
    except ValueError:
        raise OutputError(path, "a file name cannot contain a NUL character") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    finally:
        if beside is not None:
            with contextlib.suppress(OSError, ValueError):
                os.unlink(beside)


def _sync(folder: str) -> None:
    """New names in it survive a power cut, where folders can be synced."""
    if hasattr(os, "O_DIRECTORY"):
        with contextlib.suppress(OSError):
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
