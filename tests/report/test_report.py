"""The report: self-contained, escaped, and made by the library itself."""

from __future__ import annotations

import re

from doeblin.report import SECTIONS, Section, render


def test_page_is_self_contained_and_escaped():
    section = Section(
        title="A < B & C",
        text="One.\n\nTwo <script>alert(1)</script>.",
        command="doeblin certify --epsilon '<1>'",
        rows=[["h"], ["<td>"]],
        svg="<?xml version='1.0'?><svg></svg>",
        code="if (x < 0) {}",
    )
    page = render([section])
    assert "<script>" not in page
    assert "A &lt; B &amp; C" in page
    assert "<figure><svg></svg></figure>" in page
    assert all(link.startswith('"#') for link in re.findall(r"(?:src|href)=(..)", page))


def test_cheap_sections_hold_the_figures():
    section = SECTIONS["certificates"](0)
    assert any("0.000198" in cell for row in section.rows for cell in row)
    assert "0.444 and 0.556" in SECTIONS["the three-state example"](0).text
