"""`doeblin verify` and `doeblin check` as users run them."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import psutil
import pytest

from doeblin import _compiling
from doeblin.cli import main
from doeblin.formulas.engine._chain import Chain
from doeblin.programs.examples import example

HARD = """int main() {
  int a = unknown(), b = unknown(), c = unknown(), s = 0;
  while (unknown()) { s = s + a * b - c; a = b * c; b = a + s; c = a * a; }
  assert(s * s != a * b * 7 + 1111);
}"""


@pytest.fixture
def folder(tmp_path):
    for name in ("fig1", "off_by_one"):
        (tmp_path / f"{name}.c").write_text(example(name))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "arrays.c").write_text("int main() { double a[1]; a[0] = 1; }")
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(["verify", *map(str, arguments)])
    return end.value.code


def test_safe_with_all_outputs(folder, capsys):
    files = [folder / name for name in ("a.c", "w.yml", "p.smt2")]
    status = run(
        folder / "fig1.c", "--acsl", files[0], "--witness", files[1], "--certificate", files[2]
    )
    out = capsys.readouterr().out
    assert status == 0 and out.startswith("SAFE") and "integers: C's" in out
    assert all(file.stat().st_size > 100 for file in files)
    with pytest.raises(SystemExit) as end:
        main(["check", str(folder / "fig1.c"), str(files[2])])
    assert end.value.code == 0 and "confirmed" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["check", str(folder / "off_by_one.c"), str(files[2]), "--json"])
    assert end.value.code in (2, 3)


def test_unsafe_with_trace_and_test(folder, capsys):
    status = run(folder / "off_by_one.c", "--trace", "--test", folder / "t.c", "--acsl", "no.c")
    out = capsys.readouterr().out
    assert status == 1 and out.startswith("UNSAFE") and "assert(used < capacity);" in out
    assert "not written: no.c (--acsl is for SAFE)" in out
    assert "doeblin_inputs" in (folder / "t.c").read_text()


def test_json_has_the_promised_fields(folder, capsys):
    assert run(folder / "fig1.c", "--json", "--seed", 3) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["verdict"] == "SAFE" and result["seed"] == 3 and result["ints"] == "c"
    assert result["assumptions"] == ["no signed overflow"] and result["remark"] == ""
    assert {"file", "reason", "seconds", "rounds", "method"} <= result.keys()
    assert result["invariants"][0]["line"] == 6


def test_an_invariant_in_a_header_is_shown_with_its_file(folder, capsys):
    (folder / "up.h").write_text("int up(int n) { int i = 0;\n while (i < n) i++; return i; }")
    (folder / "m.c").write_text('#include "up.h"\nint main() { assert(up(5) == 5); }')
    assert run(folder / "m.c") == 0
    assert f"\n  {folder / 'up.h'}:2:2  " in capsys.readouterr().out
    assert run(folder / "m.c", "--json") == 0
    shown = json.loads(capsys.readouterr().out)["invariants"][0]
    assert (shown["file"], shown["line"]) == (str(folder / "up.h"), 2)


def test_a_folder_in_worker_processes(folder, capsys):
    assert run(folder, "--jobs", 2, "--timeout", 20) == 1
    out = capsys.readouterr().out
    assert "3 of 3 files: 1 SAFE, 1 UNKNOWN, 1 UNSAFE" in out
    assert "arrays at" in out
    (folder / "bad.c").write_text("int main( {")
    assert run(folder, "--jsonl", "--timeout", 20) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(row["verdict"] for row in rows) == ["ERROR", "SAFE", "UNKNOWN", "UNSAFE"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.c"], "there is no file 'nowhere.c'"),
        (["{folder}", "--trace"], "--trace is for one file"),
        (["{folder}/fig1.c", "--timeout", "-1"], "--timeout must be more than 0"),
        (["{folder}/notes.txt"], "cannot tell the language"),
    ],
)
def test_input_errors_are_one_line(folder, capsys, arguments, message):
    (folder / "notes.txt").write_text("x")
    assert run(*(str(a).format(folder=folder) for a in arguments)) == 3
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_malformed_c_names_the_place(folder, capsys):
    (folder / "bad.c").write_text("int main() {\n  int x = 3\n  x++;\n}\n")
    assert run(folder / "bad.c") == 3
    assert "bad.c:2:12: C syntax error after '3'" in capsys.readouterr().err


def children(parent: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == parent:
                        found.append(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_interrupt_leaves_no_process_and_says_what_is_known(folder):
    (folder / "hard.c").write_text(HARD)
    code = (  # in the background of a shell, an interrupt would be ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from doeblin.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "verify", str(folder), "--timeout", "120"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    workers = children(process.pid)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "fig1.c" in first and "of 4 files" in out
    assert workers
    until = time.monotonic() + 5  # Python's own resource tracker takes a moment
    while any(os.path.exists(f"/proc/{pid}") for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)


def test_interrupt_of_one_file_says_how_far_it_came(folder):
    (folder / "hard.c").write_text(HARD)
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from doeblin.cli import main; main()"
    )
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            code,
            "verify",
            str(folder / "hard.c"),
            "--timeout",
            "120",
            "--json",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # At work by then, however busy the machine is.
    until = time.monotonic() + 120
    while psutil.Process(process.pid).cpu_times().user < 2.0 and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    known = json.loads(out)
    assert known["verdict"] == "UNKNOWN" and known["reason"] in ("cancelled", "interrupted")


def test_huge_constants_are_exact_or_refused(folder, capsys):
    (folder / "big.c").write_text(
        "int main() { unsigned long x = 18446744073709551614u; x++;\n"
        "  assert(x == 18446744073709551615u && x > 9223372036854775807); }"
    )
    assert run(folder / "big.c") == 0
    capsys.readouterr()
    (folder / "huge.c").write_text(
        "int main() { long x = 1;\n  assert(x != 99999999999999999999); }"
    )
    assert run(folder / "huge.c") == 3
    assert "huge.c:2:15: the constant 99999999999999999999 is beyond 64 bits" in (
        capsys.readouterr().err
    )
    (folder / "long.c").write_text(f"int main() {{ assert(0x{'f' * 100_000}); }}")
    assert run(folder / "long.c") == 3
    said = capsys.readouterr().err
    assert "long.c:1:21: the constant 0xff" in said and "(100002 characters)" in said
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"int main() {{\n  return {'(' * 9000}1{')' * 9000}; }}", "deep.c:2:9009"),
        (f"int main() {{ return {'- ' * 9000}1; }}", "deep.c"),
        (f"#if {'(' * 9000}1{')' * 9000}\n#endif\nint main() {{ }}", "deep.c"),
    ],
)
def test_what_is_nested_too_deeply_has_a_place(folder, capsys, text, place):
    (folder / "deep.c").write_text(text)
    assert run(folder / "deep.c") == 2
    assert f"nesting this deep at {folder}/{place}\n" in capsys.readouterr().out


def _seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads its memory from /proc")
def test_thousands_of_variables_within_time_and_memory(folder):
    """A process of its own: less than 2 GB, and no more of the processor than the limit, a second
    of grace and the start of Python take."""
    code = (
        "from doeblin.cli import main\n"
        "try:\n    main()\nfinally:\n    import sys\n"
        "    print(open('/proc/self/status').read(), file=sys.stderr)"
    )
    count = 3000
    (folder / "many.c").write_text(
        "int main() {"
        + "".join(f"int v{i} = {i};" for i in range(count))
        + "while (unknown()) {"
        + "".join(f"v{i} = v{(i + 1) % count} + {i % 3};" for i in range(count))
        + "} assert(v0 >= 0); }"
    )
    before = _seconds_of_children()
    answer = subprocess.run(
        [sys.executable, "-c", code, "verify", str(folder / "many.c"), "--timeout", "3"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 2
    assert "time limit of 3 s reached" in answer.stdout
    assert _seconds_of_children() - before < 3 + 1 + 4
    if "VmHWM" in answer.stderr:  # not when the process had to leave at once
        # Not getrusage, which also counts what the parent had before exec.
        assert int(answer.stderr.split("VmHWM:")[1].split()[0]) < 2_000_000  # kilobytes


def test_the_first_compilation_does_not_use_up_the_limit(folder, monkeypatch, capsys):
    compile_, slept = Chain.compile, []

    def slowly(chain):
        if not slept:  # as if the first search of this machine had to compile
            _compiling.begin(about=6.5)
            time.sleep(6.5)
            _compiling.end()
            slept.append(chain)
        compile_(chain)

    monkeypatch.setattr(Chain, "compile", slowly)
    (folder / "nested.c").write_text(example("nested"))
    assert run(folder / "nested.c", "--method", "two-stage", "--timeout", "5") == 0
    shown = capsys.readouterr()
    assert slept and "SAFE" in shown.out and "compiling once, about" in shown.err


def test_starting_is_quick(folder):
    """Seconds of work, not of waiting: other tests run at the same time."""
    (folder / "tiny.c").write_text("int main() { int x = 0; while (x < 9) x++; assert(x == 9); }")
    code = (
        "import time\nfrom doeblin.cli import main\n"
        "try:\n    main()\nfinally:\n    import sys\n"
        "    print(time.process_time(), file=sys.stderr)"
    )
    times = []
    for _ in range(3):
        answer = subprocess.run(
            [sys.executable, "-c", code, "verify", str(folder / "tiny.c")],
            capture_output=True,
            text=True,
            check=True,
        )
        times.append(float(answer.stderr))
    assert min(times) < 1.5


def test_never_imports_jax(folder):
    code = (
        "import sys\nfrom doeblin.cli import main\n"
        "try:\n    main(['verify', sys.argv[1]])\nexcept SystemExit as end:\n    code = end.code\n"
        "assert code == 0 and 'jax' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder / "fig1.c")], check=True)


CLAUSES = """(set-logic HORN)
(declare-fun p (Int Int) Bool)
(assert (p 0 0))
(assert (forall ((x Int) (y Int) (u Int) (v Int)) (=> (and (p x y) (p u v)) (p (+ x u) (+ y v 1)))))
(assert (forall ((x Int) (y Int)) (=> (and (p x y) (< y {})) false)))
"""


def test_horn_clauses_as_their_solvers_answer(tmp_path, capsys):
    good, bad, else_ = tmp_path / "good.smt2", tmp_path / "bad.smt2", tmp_path / "else.smt2"
    good.write_text(CLAUSES.format(0))
    bad.write_text(CLAUSES.format(1))
    else_.write_text("(declare-fun p (Real) Bool)(assert (p 1.5))")
    assert run(good, "--format", "chc", "--model") == 0
    answer, model = capsys.readouterr().out.splitlines()
    assert answer == "sat" and model.startswith("(define-fun p ((x Int) (y Int)) Bool ")
    assert run(bad, "--format", "chc", "--model") == 1
    assert capsys.readouterr().out == "unsat\n"
    assert run(else_, "--format", "chc") == 2
    said = capsys.readouterr()
    assert said.out == "unknown\n" and "the sort Real" in said.err
    program = tmp_path / "program.c"
    program.write_text("int main() { assert(1); }")
    for options in (["--format", "chc"], ["--model"]):
        assert run(program, *options) == 3
        assert ".smt2" in capsys.readouterr().err
    assert run(good, "--model", "--json") == 3
