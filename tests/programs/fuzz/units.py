"""Programs whose names clash, compiled as one: a process for each would cost ten times as much.

What a program calls its own gets the program's number. Where that is not enough (directives, names
of the library, whatever the compiler then complains of, a `main` that ends without `return`), a
program is compiled by itself, and all its names but `main` are hidden from the others.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

_TOKEN = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/\*.*?\*/|//[^\n]*|\.?\d(?:[eEpP][+-]|[\w.])*"""
    r"""|^[ \t]*\#[^\n]*|__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\])|\b(__VERIFIER\w*|[A-Za-z]\w*)""",
    re.M | re.S,
)
# What directives say of the next program is seldom meant for it.
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)(?![ \t]*include[ \t]*<(?!assert\.h))", re.M)
_HEADERS = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<.*", re.M)
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "alignas alignof asm auto bool break case char const constexpr continue default defined do "
        "double else enum extern false float for goto if inline int long nullptr register restrict "
        "return short signed sizeof static static_assert struct switch thread_local true typedef "
        "typeof typeof_unqual union unsigned void volatile while",
    )
)

# From a source to an object: what the compiler says if it fails, "" otherwise.
Compile = Callable[[Path, Path], str]


def words(text: str) -> frozenset[str]:
    """Every name in a text that the preprocessor has left behind, and those of its macros."""
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)
    plain = re.sub(r"^[ \t]*#.*", "", text, flags=re.M)
    return frozenset(macros) | frozenset(re.findall(r"[A-Za-z_]\w*", plain))


def numbered(text: str, number: int, foreign: frozenset[str]) -> str:
    """The program with its number at every name but the foreign ones, and what belongs to the
    compiler."""

    def new(match: re.Match[str]) -> str:
        word = match[2]
        return match[0] if word is None or word in foreign else f"{word}_{number}"

    return _TOKEN.sub(new, text)


def build(
    texts: Sequence[str],
    folder: Path,
    compile_: Compile,
    prelude: str,
    whole: Collection[int] = (),
) -> list[str]:
    """What to link: the `main` of program k is `main_k`, and no program sees another's names.

    `prelude` is what `compile_` includes before everything. Those in `whole` are compiled as they
    are: C lets nothing but `main` return 0 at its end, any other name returns what happens to be
    in a register.
    """
    alone = {k for k, text in enumerate(texts) if k in whole or _DIRECTIVE.search(text)}
    headers = {line for text in texts for line in _HEADERS.findall(text)}
    given = _call("gcc", "-E", "-dD", "-", text="\n".join([prelude, *sorted(headers)]))
    foreign = (_KEYWORDS | words(given)) - {"main"}
    source, made, names = (folder / f"together{end}" for end in (".c", ".o", ".names"))
    while True:
        together = [k for k in range(len(texts)) if k not in alone]
        source.write_text(
            "".join(f'#line 1 "{k}.u"\n{numbered(texts[k], k, foreign)}\n' for k in together)
        )
        said = compile_(source, made)
        clashing = {int(k) for k in re.findall(r"^(\d+)\.u:\d+:\d+: error", said, re.M)}
        if said and not clashing:
            raise RuntimeError(said)
        if not said:
            bare = {name for name in _symbols(made, "defined") if not re.search(r"_\d+$", name)}
            clashing = {k for k in together if words(texts[k]) & bare}
        if not clashing:
            break
        alone |= clashing
    # What no program has defined is defined elsewhere, once for all.
    missing = [re.fullmatch(r"(\w+)_\d+", name) for name in _symbols(made, "undefined")]
    names.write_text("".join(f"-Wl,--defsym={m[0]}={m[1]}\n" for m in missing if m))
    return [str(made), f"@{names}", *(_alone(k, texts[k], folder, compile_) for k in sorted(alone))]


def _symbols(made: Path, which: str) -> list[str]:
    """Functions and variables of the whole file; what is static in a function has a dot, what the
    compiler adds two underscores."""
    found = [line.split()[-1] for line in _call("nm", f"--{which}-only", str(made)).splitlines()]
    return [name for name in found if re.fullmatch(r"(?!__(?!VERIFIER))\w+", name)]


def _alone(number: int, text: str, folder: Path, compile_: Compile) -> str:
    source = folder / f"alone{number}.c"
    made = source.with_suffix(".o")
    source.write_text(f"{text}\n")
    if said := compile_(source, made):
        raise RuntimeError(said)
    name = f"main_{number}"
    _call("objcopy", f"--redefine-sym=main={name}", f"--keep-global-symbol={name}", str(made))
    return str(made)


def _call(*command: str, text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout
