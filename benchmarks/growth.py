"""Proofs as arrays, loops and functions grow in number: verdict, processor seconds, peak memory."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ._memory import measured

NUMBERS = (1, 4, 16, 64)
TIMEOUT = 60.0
HEAD = "extern int unknown(void); extern void assume(int);\n"


def arrays(number: int) -> str:
    """So many arrays, each filled and looked at by the same two loops."""
    names = [f"a{k}" for k in range(number)]
    declared = ", ".join(f"{name}[100]" for name in names)
    fill = " ".join(f"{name}[i] = {k} * i + 1;" for k, name in enumerate(names))
    look = " ".join(f"assert({name}[i] >= 1);" for name in names)
    return HEAD + (
        f"int main(void) {{ int n = unknown(), {declared}; assume(0 <= n && n <= 100);\n"
        f"for (int i = 0; i < n; i++) {{ {fill} }}\nfor (int i = 0; i < n; i++) {{ {look} }} }}"
    )


def loops(number: int) -> str:
    """So many loops, one after the other, and what all of them together have counted."""
    body = "\n".join(f"for (int i = 0; i < n; i++) x += {k + 1};" for k in range(number))
    total = number * (number + 1) // 2
    return HEAD + (
        "int main(void) { int n = unknown(), x = 0; assume(0 <= n && n <= 1000);\n"
        f"{body}\nassert(x == {total} * n); }}"
    )


def functions(number: int) -> str:
    """So many functions, each with a loop, each called by the next."""
    found = ["static int f0(int n) { int i = 0; while (i < n) i++; return i; }"]
    for k in range(1, number):
        found.append(
            f"static int f{k}(int n) {{ int i = 0; while (i < n) i++; return f{k - 1}(i); }}"
        )
    return (
        HEAD
        + "\n".join(found)
        + (
            "\nint main(void) { int n = unknown(); assume(0 <= n && n <= 1000);"
            f" assert(f{number - 1}(n) == n); }}"
        )
    )


def recursions(number: int) -> str:
    """So many functions that call themselves, and what they return together."""
    found = [
        f"static int f{k}(int n) {{ if (n <= 0) return 0; return f{k}(n - 1) + {k + 1}; }}"
        for k in range(number)
    ]
    total = " + ".join(f"f{k}(n)" for k in range(number))
    return (
        HEAD
        + "\n".join(found)
        + (
            "\nint main(void) { int n = unknown(); assume(0 <= n && n <= 1000);"
            f" assert({total} == {number * (number + 1) // 2} * n); }}"
        )
    )


FAMILIES: dict[str, Callable[[int], str]] = {
    "arrays": arrays, "loops": loops, "functions": functions, "recursive functions": recursions,
}  # fmt: skip


def run() -> dict[str, Any]:
    rows = []
    for family, make in FAMILIES.items():
        for number in NUMBERS:
            row = {"family": family, "number": number, **measured(partial(_case, make(number)))}
            print(json.dumps(row), flush=True)
            rows.append(row)
    return {"timeout": TIMEOUT, "rows": rows}


def _case(text: str) -> dict[str, Any]:
    from doeblin.programs import parse_program, verify

    before = time.process_time()
    verdict = verify(parse_program(text), timeout=TIMEOUT)
    seconds = time.process_time() - before
    return {"verdict": verdict.outcome.value, "cpu_seconds": round(seconds, 2)}
