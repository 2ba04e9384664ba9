"""Solvers whose memory is at its limit."""

import subprocess
import sys

SCRIPT = """
import z3
from doeblin.programs import parse_program, verify
from doeblin.programs.system.terms import new_context

program = parse_program("int main() { int x = 0; while (x < 9) x++; assert(x == 9); }")
z3.set_param("memory_max_size", 1)
try:
    new_context()
except z3.Z3Exception as error:
    print(error)
print(verify(program, timeout=5).reason)
"""


def test_no_memory_for_a_solver_is_a_reason_and_no_crash():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["out of memory", "the solver failed: out of memory"]
