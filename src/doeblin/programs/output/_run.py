"""A test driver compiled and run, to see that it fails."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from ..verdict import Verdict

_SECONDS = 30
# By the shell: a function called between fork and exec would not go together with JAX's threads.
_LIMITS = f'ulimit -t {_SECONDS}; ulimit -v 2097152; ulimit -f 0; ulimit -c 0; exec "$0"'
# What plain compilers let pass is made to stop the program, without a library.
_TRAPS = {
    "division": ("-fsanitize=integer-divide-by-zero", "-fsanitize-undefined-trap-on-error"),
    "overflow": ("-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error"),
}


def flags(verdict: Verdict) -> list[str]:
    """How to compile a driver for this failure."""
    found = ["-std=gnu11", "-w", "-fsigned-char"]
    for word, more in _TRAPS.items():
        if word in _what(verdict):
            found += more
    return found


def run_driver(text: str, verdict: Verdict) -> tuple[bool, str]:
    """Does the driver fail as it should? Where there is no compiler, nobody knows.

    The program is run with little time and memory, without files to write and without the
    environment.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return True, "unchecked: there is no C compiler here"
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
                return False, f"it does not compile: {error.removeprefix(str(source))[:200]}"
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
            return True, f"unchecked: it was stopped after {_SECONDS} s"
        except OSError as error:
            return True, f"unchecked: {error.strerror or error}"
    if _TRAPS.keys() & set(_what(verdict).split()):
        held = ended.returncode < 0  # stopped by the trap
    else:
        held = ended.returncode == 1 and b"the property is violated" in ended.stderr
    if held:
        return True, f"compiled with {Path(compiler).name} and run: it fails"
    return False, "compiled and run, it does not fail: please report this"


def _what(verdict: Verdict) -> str:
    run = verdict.failure.run if verdict.failure else None
    return run.failure.what if run is not None and run.failure is not None else ""
