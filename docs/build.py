"""What the documentation is made of, from its own pages: pictures and executed notebooks.

`python docs/build.py gallery` runs the code of `gallery.md` in its folder of pictures;
`python docs/build.py notebook PAGE.md OUT.ipynb` makes a notebook of a page, executed.
The reference shows docstrings as `Examples` leaves them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import griffe

DOCS = Path(__file__).parent
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class Examples(griffe.Extension):
    """Examples in docstrings are code; to Markdown, `>>>` would be a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)


def cells(text: str) -> list[tuple[str, str]]:
    """A page in pieces: ("markdown" | "code", source). Commands become `!` lines."""
    found: list[tuple[str, str]] = []

    def prose(piece: str) -> None:
        if piece.strip():
            found.append(("markdown", piece.strip()))

    at = 0
    for match in _FENCE.finditer(text):
        language, code = match[1], match[2].rstrip()
        if language not in ("python", "console"):
            continue  # shown as it is
        prose(text[at : match.start()])
        at = match.end()
        if language == "console":
            lines = [line[2:] for line in code.splitlines() if line.startswith("$ ")]
            code = "\n".join(f"!{line}" for line in lines)
        found.append(("code", code))
    prose(text[at:])
    return found


def notebook(page: Path) -> Any:
    """The page as a notebook, not yet run."""
    from nbformat import v4

    make = {"markdown": v4.new_markdown_cell, "code": v4.new_code_cell}
    pieces = [make[kind](source) for kind, source in cells(page.read_text(encoding="utf-8"))]
    for number, piece in enumerate(pieces):
        piece["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=pieces, metadata={"kernelspec": kernel})


def execute(page: Path, out: Path) -> None:
    """Run the page's notebook in a folder of its own that has the repository's examples."""
    import nbformat
    from nbclient import NotebookClient

    made = notebook(page)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(DOCS.parent / "examples")
        NotebookClient(made, timeout=600, resources={"metadata": {"path": folder}}).execute()
    for cell in made.cells:
        cell.get("metadata", {}).pop("execution", None)  # no clock times: the same each time
    out.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, out)


def gallery() -> None:
    """Run the code of the gallery's page where its pictures are."""
    folder = DOCS / "assets" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    code = [source for kind, source in cells((DOCS / "gallery.md").read_text()) if kind == "code"]
    subprocess.run([sys.executable, "-c", "\n".join(code)], cwd=folder, check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["gallery"]:
            gallery()
        case ["notebook", page, out]:
            execute(Path(page), Path(out))
        case _:
            sys.exit(__doc__)
