"""Programs that need polynomial invariants, true and false; gcc says which is which.

`{0}` is changed by one for the false variant, and the compiled program, run on all small inputs,
must agree that one of the two fails.
"""

import re
import shutil
import subprocess
from itertools import product

import pytest

from doeblin.programs import Outcome, output, parse_program, verify, without_sources

GCC = shutil.which("gcc")
PROGRAMS = {
    "tetrahedral": """
int n = unknown(), i = 0, t = 0, s = 0;
assume(n >= 0);
while (i < n) { i++; t += i; s += t; }
assert(6 * s == n * (n + 1) * (n + 2) + {0});""",
    "product and offset": """
int a = unknown(), b = unknown(), c = unknown(), i = b, p = c;
assume(b >= 0);
while (i > {0}) { p = p + a; i = i - 1; }
assert(p == a * b + c);""",
    "division upwards": """
int x = unknown(), y = unknown(), q = {0}, r = -x;
assume(x >= 0 && y >= 1);
while (r < 0) { r = r + y; q++; }
assert(q * y == x + r && r < y);""",
    "root and rest": """
int n = unknown(), a = 0, r = n;
assume(n >= 0);
while (r >= 2 * a + 1) { r = r - (2 * a + 1); a++; }
assert(a * a + r == n);
assert(a * a <= n + {0} && n < (a + 1) * (a + 1) - {0});""",
    "coefficients of Bezout": """
int m = unknown(), n = unknown(), a = m, b = n, p = 1, q = {0}, r = 0, s = 1;
assume(m >= 1 && n >= 1);
while (a != b) {
  while (a > b) { a = a - b; p = p - q; r = r - s; }
  while (b > a) { b = b - a; q = q - p; s = s - r; }
}
assert(p * m + r * n == a && q * m + s * n == b);""",
    "geometric": """
int z = unknown(), n = unknown(), i = 0, p = 1, s = 0;
assume(z >= 2 && n >= 0);
while (i < n) { s = s + p; p = p * z; i++; }
assert(s * (z - 1) == p - 1 + {0});""",
    "a grid": """
int w = unknown(), h = unknown(), x, y = 0, seen = 0;
assume(w >= 0 && h >= 0);
while (y < h) { x = 0; while (x < w) { seen += 2; x++; } y++; }
assert(seen == 2 * w * h + {0});""",
}


def text_of(name: str, change: int) -> str:
    body = re.sub(r"\{(\d)\}", lambda found: str(int(found[1]) + change), PROGRAMS[name])
    return f"int main() {{{body}\nreturn 0; }}"


def fails_somewhere(text: str, folder) -> bool:
    """Does the compiled program fail on small inputs? No code of doeblin's decides this."""
    count = text.count("unknown()")
    harness = (
        "#include <stdlib.h>\n#include <stdio.h>\n#include <setjmp.h>\n"
        "static jmp_buf end; static int given[8], next, failed;\n"
        "static int unknown(void) { return given[next++]; }\n"
        "static void assume(int c) { if (!c) longjmp(end, 1); }\n"
        "static void assert(int c) { if (!c) { failed = 1; longjmp(end, 1); } }\n"
        + text.replace("int main()", "int checked()")
        + "\nint main(void) { while (1) { next = 0;\n"
        f'for (int i = 0; i < {count}; i++) if (scanf("%d", &given[i]) != 1) return failed;\n'
        "if (!setjmp(end)) checked(); } }\n"
    )
    source, program = folder / "checked.c", folder / "checked"
    source.write_text(harness)
    subprocess.run(["gcc", "-w", "-O0", "-o", program, source], check=True)
    rows = product(range(-2, 8), repeat=count)
    told = "\n".join(" ".join(map(str, row)) for row in rows)
    return subprocess.run([program], input=told, text=True, timeout=60).returncode == 1


DEAR = {"tetrahedral", "coefficients of Bezout"}


@pytest.mark.skipif(GCC is None, reason="the truth comes from gcc, which is not here")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.thorough if n in DEAR else ()) for n in PROGRAMS],
)
def test_true_programs_are_proved(name, tmp_path):
    text = text_of(name, 0)
    assert not fails_somewhere(text, tmp_path)
    assert verify(parse_program(text), timeout=60).outcome is Outcome.SAFE


@pytest.mark.skipif(GCC is None, reason="the truth comes from gcc, which is not here")
@pytest.mark.parametrize("name", PROGRAMS)
def test_false_variants_are_never_proved(name, tmp_path):
    text = text_of(name, 1)
    assert fails_somewhere(text, tmp_path)
    assert verify(parse_program(text), timeout=20).outcome is Outcome.UNSAFE


def test_any_solver_can_confirm_the_certificate():
    z3 = pytest.importorskip("z3")
    program = parse_program(text_of("division upwards", 0))
    verdict = verify(program, timeout=60)
    assert verdict.found_by == "polynomials"
    text = output.certificate(program, verdict)
    assert output.check_certificate(program, text) is None
    parts = text.split("(push 1)")
    assert len(parts) > 3
    for part in parts[1:]:
        solver = z3.Solver()
        solver.from_string(parts[0] + part.split("(check-sat)")[0])
        assert solver.check() == z3.unsat


def test_it_can_be_switched_off():
    program = parse_program(text_of("division upwards", 0))
    off = without_sources(["polynomials"])
    assert verify(program, timeout=1, tunables=off).found_by != "polynomials"
