"""Sections of a report, and the page that holds them: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from .._version import __version__


@dataclass(frozen=True)
class Section:
    """One result: what it is, what was found, a picture, and the command that redoes it in full."""

    title: str
    text: str
    command: str
    rows: Sequence[Sequence[str]] = field(default=())
    """A table, its heading first."""
    svg: str = ""
    code: str = ""


def render(sections: Sequence[Section]) -> str:
    """The whole page."""
    contents = "".join(
        f'<li><a href="#s{i}">{escape(section.title)}</a></li>'
        for i, section in enumerate(sections)
    )
    body = "".join(_section(i, section) for i, section in enumerate(sections))
    return _PAGE.format(version=escape(__version__), contents=contents, body=body, style=_STYLE)


def _section(number: int, section: Section) -> str:
    parts = [f'<section id="s{number}"><h2>{escape(section.title)}</h2>']
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in section.text.split("\n\n")]
    if section.svg:
        # Drawn by ourselves; the XML prologue has no place inside a page.
        parts.append(f"<figure>{section.svg[section.svg.index('<svg') :]}</figure>")
    if section.rows:
        parts.append(_table(section.rows))
    if section.code:
        parts.append(f"<pre>{escape(section.code)}</pre>")
    parts.append(f'<p class="redo">In full: <code>{escape(section.command)}</code></p></section>')
    return "".join(parts)


def _table(rows: Sequence[Sequence[str]]) -> str:
    heading = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f'<div class="wide"><table><tr>{heading}</tr>{body}</table></div>'


_STYLE = """
:root { color-scheme: light dark; --line: #8886; --accent: #36c; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
figure { margin: 1rem 0; background: white; padding: .5rem; border-radius: .5rem; }
figure svg { width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; }
pre, code { font: .9em ui-monospace, monospace; } pre { overflow-x: auto; padding: .8rem;
  border: 1px solid var(--line); border-radius: .5rem; }
.redo { color: #888; } a { color: var(--accent); }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>doeblin: a report</title><style>{style}</style></head>
<body><h1>doeblin</h1>
<p>Markov chains with guarantees: what version {version} does, on this machine, just now.</p>
<nav><ol>{contents}</ol></nav>{body}</body></html>
"""
