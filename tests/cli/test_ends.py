"""Every way in which a command can end: its status, and nothing left behind.

Real processes, since signals, pipes and full disks are theirs.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from doeblin.cli import _verify, main
from doeblin.cli._status import MEANING, Status

SAFE = "int main() { int x = 0; while (x < 10) x++; assert(x == 10); return 0; }\n"
UNSAFE = SAFE.replace("x == 10", "x == 11")
HARD = """int main() {
  int a = unknown(), b = unknown(), c = unknown(), s = 0;
  while (unknown()) { s = s + a * b - c; a = b * c; b = a + s; c = a * a; }
  assert(s * s != a * b * 7 + 1111);
}"""
linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
ROOT = Path(__file__).parents[2]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run by a shell; `doeblin` there is ours."""
    program = f"doeblin() {{ '{sys.executable}' -m doeblin \"$@\"; }}\n{command}"
    return subprocess.run(
        ["bash", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "safe.c").write_text(SAFE)
    (tmp_path / "unsafe.c").write_text(UNSAFE)
    (tmp_path / "hard.c").write_text(HARD)
    return tmp_path


def dear(command: str, status: Status) -> Any:
    """The others have each of these ways in which a stream or a name fails."""
    return pytest.param(command, status, marks=pytest.mark.thorough)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("doeblin verify safe.c | head -0; exit ${PIPESTATUS[0]}", Status.CLOSED_PIPE),
        dear("doeblin verify unsafe.c --json | head -0; exit ${PIPESTATUS[0]}", Status.CLOSED_PIPE),
        ("doeblin verify unsafe.c > /dev/full", Status.OUTPUT_ERROR),
        ("doeblin certify --epsilon 0.1 > /dev/full 2> /dev/full", Status.OUTPUT_ERROR),
        ("doeblin verify safe.c --certificate /dev/full", Status.OUTPUT_ERROR),
        dear("doeblin verify safe.c --certificate no/such/folder/p.smt2", Status.OUTPUT_ERROR),
        ("doeblin verify unsafe.c >&- 2>&-", Status.UNSAFE),
        ("doeblin demo --out /proc/self/no", Status.OUTPUT_ERROR),
        ("doeblin verify $'no\\nsuch\\e[31m.c'", Status.INPUT_ERROR),
        ("doeblin verify safe.c --no-such-option", Status.INPUT_ERROR),
        dear("doeblin verify ''", Status.INPUT_ERROR),
        dear("doeblin verify $(printf 'x%.0s' {1..300}).c", Status.INPUT_ERROR),
        ("doeblin certify --matrix $(printf '[%.0s' {1..9000})", Status.INPUT_ERROR),
        ("doeblin verify safe.c --timeout inf", Status.INPUT_ERROR),
        ("PYTHONIOENCODING=ascii doeblin certify --epsilon 0.1", Status.DONE),
    ],
)
def test_streams_that_fail(folder, command, status):
    ended = shell(command, folder)
    assert ended.returncode == status, ended
    assert "Traceback" not in ended.stderr and "\x1b" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 3


def test_a_fault_of_ours_is_neither_unsafe_nor_a_traceback(folder, monkeypatch, capsys):
    def broken(*_: object) -> int:
        raise RuntimeError("two\nlines and \x1b[31m colour")

    monkeypatch.setattr(_verify, "_one", broken)
    for more, traced in (((), False), (("--debug",), True)):
        with pytest.raises(SystemExit) as end:
            main(["verify", str(folder / "safe.c"), *more])
        shown = capsys.readouterr().err
        assert end.value.code == Status.INTERNAL_ERROR
        assert ("Traceback" in shown) == traced
        assert "\x1b[31m colour" not in shown and "RuntimeError: two\\nlines" in shown


def test_a_fault_of_ours_in_a_worker(folder):
    """A file in a batch that crashes the reader does not stop the others, and has its status."""
    code = (
        "from doeblin.programs import child\n"
        "child._CODE = '''from doeblin.programs import child\n"
        "def verify_file(path, *_): raise RuntimeError('crash')\n"
        "child.verify_file = verify_file; child.serve({})'''\n"
        "from doeblin.cli import main; main()\n"
    )
    (folder / "run.py").write_text(code)
    ended = subprocess.run(
        [sys.executable, "run.py", "verify", "safe.c", "unsafe.c", "--json"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    found = json.loads(ended.stdout)
    assert [r["verdict"] for r in found["results"]] == ["ERROR", "ERROR"]
    assert "a fault of doeblin itself: RuntimeError: crash" in found["results"][0]["reason"]
    assert ended.returncode == Status.INTERNAL_ERROR and "Traceback" not in ended.stderr


def descendants(parent: int) -> set[int]:
    """All processes below one, and their children."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
                parents[int(entry)] = int(stat.rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found: set[int] = set()
    while more := {p for p, above in parents.items() if above in found | {parent}} - found:
        found |= more
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


EXAMPLES = "x,y,f\n" + "".join(
    f"{x},{y},{(x * y * 7 + x * x + y) % 3 == 0}\n" for x in range(30) for y in range(30)
)
BUSY = {
    "verify": (["verify", "hard.c", "unsafe.c", "--jobs", "2", "--timeout", "100"], 2),
    "formula": (
        ["formula", "e.csv", "--workers", "2", "--time-limit", "100"],
        3,
    ),  # with Python's resource tracker
}


@linux
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("verify", signal.SIGKILL),
        ("formula", signal.SIGTERM),
        pytest.param("verify", signal.SIGTERM, marks=pytest.mark.thorough),
        pytest.param("formula", signal.SIGKILL, marks=pytest.mark.thorough),
    ],
)
def test_no_worker_outlives_the_command(folder, name, how):
    (folder / "e.csv").write_text(EXAMPLES)
    arguments, processes = BUSY[name]
    process = subprocess.Popen(
        [sys.executable, "-m", "doeblin", *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    below: set[int] = set()
    while len(below) < processes and time.monotonic() < until:
        time.sleep(0.2)
        below = descendants(process.pid)
    time.sleep(1.0)  # they are at work by now
    below = descendants(process.pid)
    assert len(below) >= 2
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    until = time.monotonic() + 10
    while any(map(alive, below)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in below if alive(pid)]
    if how == signal.SIGTERM:
        assert process.returncode == Status.TERMINATED, (out, err)
        assert "terminated" in err and "Traceback" not in err
    else:
        assert process.returncode == -how


@pytest.mark.thorough  # an interrupt of one is in `test_verify.py`, SIGTERM above
def test_sigterm_of_one_file(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "doeblin", "verify", "hard.c", "--timeout", "100", "--json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    # At work by then, however busy the machine is.
    until = time.monotonic() + 120
    while psutil.Process(process.pid).cpu_times().user < 2.0 and time.monotonic() < until:
        time.sleep(0.1)
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert process.returncode == Status.TERMINATED
    assert json.loads(out)["verdict"] == "UNKNOWN" and err.strip() == "terminated"


def test_the_table_is_in_the_help_and_in_the_documentation(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    page = (ROOT / "docs" / "how-to" / "exit-statuses.md").read_text(encoding="utf-8")
    for status, meaning in MEANING.items():
        assert re.search(rf"^ +{status.value}  {re.escape(meaning)}$", shown, re.MULTILINE)
        assert re.search(rf"^\| {status.value} \|", page, re.MULTILINE)
    assert page.count("\n| ") == len(MEANING) + 1


def test_status_one_is_said_in_one_place():
    """No command returns a bare 1; only the verdict UNSAFE does."""
    sources = (ROOT / "src" / "doeblin" / "cli").glob("*.py")
    text = "\n".join(path.read_text() for path in sources)
    assert not re.search(r"return 1\b|sys\.exit\(1|exit\(1", text)
