"""Recursive C: proofs, failing runs with their calls, and random functions against gcc."""

import re
import shutil

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, output, parse_program, verify
from doeblin.programs.solve import Budget, Trees, replay_graph
from tests.programs.fuzz import recursion, recursive_arrays

PROGRAMS = {
    "ninety-one": "int f(int x) { if (x > 100) return x - 10; return f(f(x + 11)); }"
    " int main() { int x = unknown(), r = f(x); assert(r == {91} || x > 101); }",
    "sum": "int f(int n) { return n <= 0 ? 0 : 2 + f(n - 1); }"
    " int main() { int n = unknown(); if (n >= 0) assert(f(n) == 2 * n + {0}); }",
    "accumulator": "int f(int n, int s) { return n == 0 ? s : f(n - 1, s + 1); }"
    " int main() { int n = unknown(); assume(n >= 0 && n < 1000); assert(f(n, 5) == n + {5}); }",
    "mutual": "int g; void odd(int n); void even(int n) { g++; if (n > 0) odd(n - 1); }"
    " void odd(int n) { if (n > 0) even(n - 1); }"
    " int main() { int n = unknown(); if (n > 0) { even(n); assert(g >= {1}); } }",
    "loop inside": "int f(int n) { int i, s = 0; if (n <= 0) return 0;"
    " for (i = 0; i < 3; i++) s++; return s + f(n - 1); }"
    " int main() { int n = unknown(); if (n >= 0) assert(f(n) == 3 * n + {0}); }",
    "precondition": "void f(int n) { assert(n >= {0}); if (n > 0) f(n - 1); }"
    " int main() { int n = unknown(); if (n >= 0) f(n); }",
    "unsigned": "unsigned f(unsigned n, unsigned m) { return n == 0 ? m : f(n - 1, m + 1); }"
    " int main() { unsigned a = unknown_uint(), b = unknown_uint();"
    " assert(f(a, b) == a + b + {0}); }",
    "input inside": "int f(int n) { int x = unknown(); if (x < 0) x = 0; if (x > 9) x = 9;"
    " return n <= 0 ? x : x + f(n - 1); }"
    " int main() { int n = unknown(); if (n >= 0) assert(f(n) >= {0}); }",
}


def text_of(name, change):
    """The program, with the number in braces changed by so much."""
    return re.sub(r"\{(\d+)\}", lambda found: str(int(found[1]) + change), PROGRAMS[name])


# With signed numbers it is the accumulator, which is quicker.
MARKS = {"unsigned": pytest.mark.thorough}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=MARKS.get(name, ())) for name in PROGRAMS]
)
def test_proved_and_changed_by_one_refuted(name):
    program = parse_program(text_of(name, 0), file=f"{name}.c")
    verdict = verify(program)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    certificate = output.certificate(program, verdict)
    proved = verdict.proved
    assert proved is not None and output.check_certificate(proved, certificate) is None
    wrong = parse_program(text_of(name, 1), file=f"{name}.c")
    assert wrong.text != program.text
    refuted = verify(wrong)
    assert refuted.outcome is Outcome.UNSAFE, refuted.reason
    checked = wrong.under(proved.ints)
    assert output.check_certificate(checked, certificate) is not None
    for write in (output.acsl, output.witness):
        with pytest.raises(InputError, match=r"recursive functions \('.*is not available"):
            write(program, verdict)


def test_the_calls_are_shown():
    text = (
        "void g(int n) { if (n > 0) g(n - 1); }\n"
        "void f(int n, int m) {\n  g(n);\n  if (n == 1) assert(m != 12);\n"
        "  if (n > 0) f(n - 1, m + 10);\n}\n"
        "int main() { int n = unknown(); if (n < 4) f(n, 2); }"
    )
    program = parse_program(text, file="p.c")
    verdict = verify(program)
    assert verdict.outcome is Outcome.UNSAFE and verdict.reason == "assertion at p.c:4:15"
    calls = output.calls(program, verdict)
    assert calls == [
        "in f(n = 1, m = 12), called at p.c:5:14",
        "in f(n = 2, m = 2), called at p.c:7:44",
    ]
    assert [item["arguments"] for item in verdict.as_dict()["stack"]] == [[2, 2], [1, 12]]
    shown = output.trace(program, verdict)
    assert shown[-2:] == [f"    {line}" for line in calls]
    assert any(line.endswith("g returns") for line in shown)


def test_derivations_are_replayed_on_the_program():
    """Inputs within calls that have returned, and within those that have not, find their place."""
    text = """
    int f(int n) { int x = unknown(); return n <= 0 ? x : x + f(n - 1); }
    void h(int d) { if (d == 1) { int x = f(1); assert(x != 200); } else { f(0); h(d + 1); } }
    int main() { int a = f(0); if (a == 7) h(0); }
    """
    program = parse_program(text)
    graph, interpreter = program.graph, program.interpreter
    assert graph is not None and interpreter is not None
    with Budget(30) as budget:
        trees = Trees(program.system, budget)
        path = None
        while path is None and trees.depth < 9:
            path = trees.deepen(20_000_000)
        assert path is not None and any(len(built) > 1 for built in path.premises)
        failure = replay_graph(graph, interpreter, program.system, path)
    assert failure is not None and failure.run is not None
    assert [call.procedure for call, _ in failure.run.stack] == ["h", "h"]
    inputs = iter([value for _, value in failure.run.inputs])
    again = interpreter.run(lambda havoc: next(inputs))
    assert again.failure is failure.run.failure


@pytest.mark.parametrize(
    "text",
    [
        "void f(void) { f(); } int main() { f(); assert(0); }",
        "int f(int n) { if (n == 0) exit(1); return f(n - 1); } int main() { f(5); assert(0); }",
        "_Noreturn void die(void); int f(int n) { if (n <= 0) die(); return f(n - 1); }"
        " int main() { f(3); assert(0); }",
        pytest.param(
            "void g(int n); void f(int n) { g(n); } void g(int n) { while (n) n--; f(n); }"
            " int main() { f(unknown()); assert(0); }",
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["always", "exit", "noreturn", "mutual"],
)
def test_what_never_returns_has_no_trees(text):
    program = parse_program(text)
    with Budget(30) as budget:
        trees = Trees(program.system, budget)
        assert trees.deepen(1_000_000) is None and trees.finished
    assert verify(program, timeout=10).outcome is Outcome.SAFE


def test_a_recursive_function_may_be_where_the_program_starts():
    for bound, outcome in ((7, Outcome.UNSAFE), (-2147483648, Outcome.SAFE)):
        text = f"int f(int n) {{ assert(n >= {bound}); return n <= 0 ? 0 : f(n - 1) + 1; }}"
        program = parse_program(text)
        assert verify(program).outcome is outcome
        assert "there is no 'main': the program starts at 'f'" in program.remarks.notes


def test_calls_are_made_once():
    """Without inputs a call with the same arguments and globals ends as it did; with others not."""
    text = (
        "int g; int f(int n) { g++; if (n < 2) return n; int a = f(n - 1); return a + f(n - 2); }\n"
        "int h(int n) { return n < 2 ? n : h(n - 1) + h(n - 2); }\n"
        "int main() { int a = f(10), b = h(40); assert(a == 55 && g == 177); }"
    )
    program = parse_program(text)
    assert program.interpreter is not None
    run = program.interpreter.run(lambda havoc: 0, limit=20_000)
    assert run.outcome == "ended"
    assert verify(parse_program(text.replace("177", "178"))).outcome is Outcome.UNSAFE


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the referee is gcc")
@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.thorough)])
def test_random_functions(count: int):
    wrong, counts = recursion.disagreements(range(count), timeout=3)
    assert not wrong, "\n".join(wrong)
    assert min(counts["SAFE"], counts["UNSAFE"]) >= count / 2, counts


ARRAYS = {
    "greatest": "int f(int *a, int n) { if (n == 1) return a[0]; int m = f(a, n - 1);"
    " return a[n - 1] > m ? a[n - 1] : m; }"
    " int main() { int a[50]; for (int i = 0; i < 50; i++) a[i] = unknown();"
    " int m = f(a, {50}); assert(m >= a[0]); }",
    "filled": "void f(int *a, int i, int n) { if (i >= n) return; a[i] = 7; f(a, i + 1, n); }"
    " int main() { int a[9]; f(a, 0, 9); int k = unknown();"
    " if (k >= 0 && k < {9}) assert(a[k] == 7); }",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_proved_and_changed_by_one_refuted(name):
    text = re.sub(r"\{(\d+)\}", r"\1", ARRAYS[name])
    program = parse_program(text, file=f"{name}.c")
    verdict = verify(program)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    certificate = output.certificate(program, verdict)
    assert output.check_certificate(verdict.proved, certificate) is None
    wrong = parse_program(
        re.sub(r"\{(\d+)\}", lambda found: str(int(found[1]) + 1), ARRAYS[name]), file=f"{name}.c"
    )
    refuted = verify(wrong)
    assert refuted.outcome is Outcome.UNSAFE and "out of bounds" in refuted.reason
    assert output.check_certificate(wrong.under(verdict.proved.ints), certificate) is not None
    with pytest.raises(InputError, match=r"recursive functions \('f'\) is not available"):
        output.acsl(program, verdict)


def test_a_function_with_other_arrays_is_another_procedure():
    text = (
        "int f(int *a, int *b, int n) { a[n] = n; return n == 0 ? b[1] : f(b, a, n - 1); }\n"
        "int main() { int a[2] = {0}, b[2] = {0}; int r = f(a, b, 1); assert(r != 1); }"
    )
    program = parse_program(text, file="p.c")
    assert program.graph is not None and list(program.graph.procedures) == ["f", "f#2"]
    verdict = verify(program)
    assert verdict.outcome is Outcome.UNSAFE and verdict.reason == "assertion at p.c:2:62"
    inside = parse_program(text.replace("b[1]", "b[n - 2]"), file="p.c")
    verdict = verify(inside)
    assert output.calls(inside, verdict) == [
        "in f(n = 0), called at p.c:1:69",
        "in f(n = 1), called at p.c:2:50",
    ]
    assert {item["function"] for item in verdict.as_dict()["stack"]} == {"f"}


def test_what_a_call_began_with_is_what_states_show():
    """Cells that nobody has stored in are the same before and after, in every state of a run."""
    text = (
        "int g[5]; void f(int n) { if (n < 5) { if (g[n] > 3) g[n] = 3; f(n + 1); } }"
        " int main() { f(0); assert(g[unknown() & 3] <= 3); }"
    )
    program = parse_program(text.replace("int g[5]", "extern int g[5]"))
    graph, interpreter = program.graph, program.interpreter
    assert graph is not None and interpreter is not None
    made = graph.procedures["f"]
    drawn = dict.fromkeys(range(5), 2) | {1: 9}
    run = interpreter.run(
        lambda havoc: 0, watch=[made.exit], contents=lambda fill: drawn.__getitem__
    )
    states = [dict(zip(interpreter.names, state, strict=True)) for _, state in run.visits]
    old = made.old["g"]
    before = [[state[old].known(i) or state[old].decided(i) for i in range(5)] for state in states]
    assert before == [[2, 3, 2, 2, 2]] * 4 + [[2, 9, 2, 2, 2]] * 2


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the referee is gcc")
def test_random_functions_with_arrays():
    wrong, counts = recursive_arrays.disagreements(range(1003, 1009), timeout=2)
    assert not wrong, "\n".join(wrong)
    assert counts["UNSAFE"] >= 1, counts
