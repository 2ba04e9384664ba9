"""The commands on the page about formulas print what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from doeblin.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def test_commands_on_the_page_print_what_it_shows(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "how-to" / "formulas.md").read_text(encoding="utf-8")
    ran = 0
    for language, title, text in BLOCK.findall(page):
        if title:
            assert Path(title).read_text(encoding="utf-8") == text
        if language != "console":
            continue
        for command in text.split("$ ")[1:]:
            line, _, expected = command.partition("\n")
            with pytest.raises(SystemExit) as ended:
                main(shlex.split(line)[1:])
            assert ended.value.code == 0
            assert capsys.readouterr().out == expected
            ran += 1
    assert ran == 6
