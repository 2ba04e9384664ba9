"""A test driver compiled and run, to see that it fails."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from ..verdict import Verdict

_SECONDS = 30
# By the shell: a function called between fork and exec would not go together with JAX's threads.
_LIMITS = f'ulimit -t {_SECONDS}; ulimit -v 2097152; ulimit -f 0; ulimit -c 0; exec "$0"'
# What plain compilers let pass is made to stop the program, without a library.
_TRAP = "-fsanitize-undefined-trap-on-error"
_SANITIZERS = {
    "division by zero": "-fsanitize=integer-divide-by-zero",
    "signed overflow": "-fsanitize=signed-integer-overflow,shift",
    "shift": "-fsanitize=shift",
    "unreachable reached": "-fsanitize=unreachable",
    "out of bounds": "-fsanitize=bounds",
    "is not positive": "-fsanitize=vla-bound",
    "a floating-point value": "-fsanitize=float-cast-overflow",
    "a null pointer is dereferenced": "-fsanitize=null",
}
_SIGNALS = {-signal.SIGILL, -signal.SIGTRAP, -signal.SIGFPE}
EXPECTED = "Nobody has run it yet. As the run was found, "
STOPPED, EXITS = "it is stopped by a signal.", "it exits with status 1."


class Tried(NamedTuple):
    """What came of a test: `fails` is None where nothing follows from its run, or there was none;
    `kept` is false for one that is of no use."""

    fails: bool | None
    remark: str
    kept: bool = True


def flags(verdict: Verdict) -> list[str]:
    """How to compile a driver for this failure: functions of the program's mean what they say."""
    found = ["-std=gnu17", "-w", "-Wno-implicit-function-declaration"]
    found += ["-fsigned-char", "-fno-builtin"]
    for word, flag in _SANITIZERS.items():
        if word in _undefined(verdict):
            found += [flag, _TRAP]
    return found


def confirmed(text: str) -> str:
    """A driver that was seen to fail says so."""
    return text.replace(EXPECTED, "Compiled and run by doeblin: ", 1)


def run_driver(text: str, verdict: Verdict) -> Tried:
    """Does the driver fail as it should? Where there is no compiler, nobody knows.

    The program is run with little time and memory, without files to write and without the
    environment.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return Tried(None, "unchecked: there is no C compiler here")
    with tempfile.TemporaryDirectory(prefix="doeblin-") as folder:
        source, binary = Path(folder, "test.c"), Path(folder, "test")
        source.write_text(text, encoding="utf-8", errors="backslashreplace")
        command = [compiler, *flags(verdict), "-o", str(binary), str(source)]
        try:
            made = subprocess.run(
                command, capture_output=True, timeout=_SECONDS, check=False, cwd=folder
            )
            if made.returncode:
                why = made.stderr.decode("utf-8", "replace").strip().splitlines()
                error = next((line for line in why if "error" in line), "no reason given")
                said = error.removeprefix(str(source))[:200]
                return Tried(None, f"it does not compile: {said}", kept=False)
            ended = subprocess.run(
                ["/bin/sh", "-c", _LIMITS, str(binary)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_SECONDS,
                check=False,
                cwd=folder,
                env={},
            )
        except subprocess.TimeoutExpired:
            return Tried(None, f"unchecked: it was stopped after {_SECONDS} s")
        except OSError as error:
            return Tried(None, f"unchecked: {error.strerror or error}")
    if EXPECTED + STOPPED in text.partition("*/")[0]:
        fails = ended.returncode in _SIGNALS
    else:
        fails = ended.returncode == 1 and b"the property is violated" in ended.stderr
    if fails:
        return Tried(True, f"compiled with {Path(compiler).name} and run: it fails")
    if ended.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return Tried(None, f"unchecked: it was stopped after {_SECONDS} s")
    if why := _overlooked(verdict):
        return Tried(None, f"compiled and run, and does not fail: {why}", kept=False)
    return Tried(False, "compiled and run, and does not fail")


def _overlooked(verdict: Verdict) -> str | None:
    """Why a test may end well although the program fails."""
    if _undefined(verdict):
        return "compilers overlook some undefined behaviour"
    run = verdict.failure.run if verdict.failure else None
    if run is not None and any(
        havoc.origin in ("declaration", "hidden") for havoc, _ in run.inputs
    ):
        return "variables that are never set could not be given their values"
    return None


def _undefined(verdict: Verdict) -> str:
    """The undefined behaviour that the failure is, if it is one."""
    run = verdict.failure.run if verdict.failure else None
    what = run.failure.what if run is not None and run.failure is not None else ""
    return what if what.startswith("undefined") else ""
