"""What the pages about programs show is what the commands print."""

import re
from pathlib import Path

import pytest

from doeblin.cli import main

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs/tutorials/prove-a-program.md").read_text()


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code, capsys.readouterr().out


def test_tutorial(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    program = "examples/programs/together.c"
    shown = re.search(r"```c title=.*?\n(.*?)```", TUTORIAL, re.DOTALL)
    assert shown is not None and shown[1] == (ROOT / program).read_text()
    certificate = str(tmp_path / "proof.smt2")
    status, out = run(capsys, "verify", program, "--certificate", certificate)
    assert status == 0
    *lines, seconds, wrote = out.splitlines()
    assert all(line in TUTORIAL for line in lines)
    assert " s, " in seconds and wrote == f"  wrote {certificate}"
    assert run(capsys, "verify", program, "--overflow")[0] == 1
    status, out = run(capsys, "check", program, certificate)
    assert status == 0 and out.strip() in TUTORIAL


def test_the_broken_one_fails(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    target = tmp_path / "reproduce.c"
    status, out = run(
        capsys, "verify", "examples/buggy/together.c", "--trace", "--test", str(target)
    )
    assert status == 1 and "assert(y == 1);" in out and target.exists()


def test_reasons_in_the_page_about_unknown_are_real():
    page = (ROOT / "docs/how-to/unknown.md").read_text()
    source = "".join(
        path.read_text()
        for folder in ("programs", "cli")
        for path in (ROOT / "src/doeblin" / folder).rglob("*.py")
    )
    reasons = [row for row in page.splitlines() if row.startswith("| `")]
    assert len(reasons) > 5
    for row in reasons:
        for reason in re.findall(r"`([^`]+)`", row.split("|")[1]):
            for part in re.split(r" ?… ?|file:line:column", reason):
                assert part.strip("; ") in source, part
