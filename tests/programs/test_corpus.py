"""Programs that were judged wrongly once, and others of their kind, each with its truth.

The first line of a file in `corpus/` is a comment: `// truth: WORD (why)`, with `;` in SMT-LIB and
SyGuS. The words:

- `safe`, `unsafe`: by the compiled program (checked here) or by solvers; never the opposite.
- `unspecified`: C leaves the answer open, so nothing is said.
- `refused`: outside of what is modelled, so nothing is said.
- `empty`: there is nothing to prove, so nothing is said.

UNKNOWN is never wrong, but most of these are small enough to be decided.
"""

import re
import shutil
from pathlib import Path

import pytest

from doeblin._errors import InputError
from doeblin.programs import read_program, verify

from .fuzz.clauses import spacer
from .fuzz.referee import FAILS, Bench

FOLDER = Path(__file__).parent / "corpus"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".c", ".sl", ".smt2"))
OPPOSITE = {"safe": ["UNSAFE"], "unsafe": ["SAFE"]}
DECIDED = {"safe": "SAFE", "unsafe": "UNSAFE"}
# Not decided within a second: nothing would be said in it, and `make thorough` waits longer.
HARD = {"coefficients_beyond_64_bits.c", "coefficients_large.c", "m_uchar_loop_ok.c", "u_fact.c"}


def truth(path: Path) -> str:
    found = re.match(r"(?://|;) truth: (safe|unsafe|unspecified|refused|empty)\b", path.read_text())
    assert found, f"{path.name}: the first line states no truth"
    return found[1]


def outcome(path: Path, timeout: float = 1) -> str:
    try:
        return verify(read_program(path), timeout=timeout).outcome.value
    except InputError:
        return "refused"


def test_no_verdict_is_wrong():
    outcomes = {path: outcome(path, 0.2 if path.name in HARD else 1) for path in FILES}
    wrong = {
        path.name: (truth(path), said)
        for path, said in outcomes.items()
        if said in OPPOSITE.get(truth(path), ["SAFE", "UNSAFE"])
    }
    assert not wrong
    decidable = [path for path in FILES if truth(path) in DECIDED]
    decided = [path for path in decidable if outcomes[path] == DECIDED[truth(path)]]
    assert len(decided) >= 0.75 * len(decidable)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(HARD))
def test_no_verdict_is_wrong_after_a_while(name):
    path = FOLDER / name
    assert outcome(path, 5) not in OPPOSITE[truth(path)]


@pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("objcopy")), reason="the truth comes from gcc"
)
def test_truths_are_the_compilers(tmp_path):
    programs = [path for path in FILES if path.suffix == ".c" and truth(path) in DECIDED]
    texts = [path.read_text() for path in programs]
    truths = Bench(texts, tmp_path, names=["gcc"], levels=[], separate=True).truths()
    fails = {
        path.name: found.first(FAILS) is not None
        for path, found in zip(programs, truths, strict=True)
    }
    assert fails == {path.name: truth(path) == "unsafe" for path in programs}


def test_truths_are_the_solvers():
    for path in FILES:
        if path.suffix == ".smt2" and truth(path) in DECIDED:
            opposite = {"safe": "unsat", "unsafe": "sat"}[truth(path)]
            assert spacer(path.read_text()) != opposite, path.name
