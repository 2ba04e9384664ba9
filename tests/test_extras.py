"""On a base install, what is missing is named with the extra that brings it; the rest works."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from doeblin import MissingExtraError
from doeblin._errors import _EXTRA_OF

# A process in which no optional package can be imported.
BARE = f"""
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.split(".")[0] in {sorted(_EXTRA_OF)!r} else found(name, path, target)

PathFinder.find_spec = find_spec
"""
EXTRAS = {
    "import doeblin; doeblin.chains": "chains",
    "from doeblin import Chain": "chains",
    "from doeblin.chains import doeblin": "chains",
    "from doeblin.kernels import Gibbs": "chains",
    "import doeblin.learning": "learning",
    "from doeblin.crf import LinearChainCRF": "learning",
    "from doeblin.programs import verify": "verify",
    "from doeblin.gestures import Decoder": "gestures",
    "import doeblin.gestures.decoder": "gestures",
    "import doeblin.gestures.paper": "gestures",
    "import doeblin.serve": "serve",
}
COMMANDS = {
    "demo": "all",
    "formula examples/formulas/rule.csv --method 2-stage": "formulas",
    "verify examples/counters.c": "verify",
    "gestures decode shipped swipes.jsonl": "gestures",
    "serve": "serve",
}


def bare(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BARE + program], capture_output=True, text=True, timeout=60
    )


def test_imports_name_their_extra():
    lines = [f"told({code!r})" for code in EXTRAS]
    done = bare(
        "def told(code):\n"
        "    try:\n        exec(code)\n"
        "    except ImportError as error:\n        print(type(error).__name__, error)\n"
        "    else:\n        print('nothing is missing')\n" + "\n".join(lines)
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    for (code, extra), line in zip(EXTRAS.items(), told, strict=True):
        assert line.startswith("MissingExtraError"), code
        assert line.endswith(f"pip install 'doeblin[{extra}]'"), (code, line)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_their_extra(command, tmp_path):
    (tmp_path / "swipes.jsonl").write_text("")
    words = [str(tmp_path / word) if word.endswith("jsonl") else word for word in command.split()]
    done = bare(f"from doeblin.cli import main\nmain({words!r})")
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert f"pip install 'doeblin[{COMMANDS[command]}]'" in done.stderr


def test_base_install_certifies_searches_and_reads_gestures():
    """Short searches for formulas do without the compiler."""
    done = bare("from doeblin.cli import main\nmain(['formula', 'examples/formulas/rule.csv'])")
    assert done.returncode == 0 and "x >= 5" in done.stdout
    done = bare(
        "import doeblin\nfrom doeblin.finite import spectral_gap, three_state_chain\n"
        "from doeblin.gestures import Generator, Layout, Lexicon\n"
        "print(doeblin.certify(doeblin.Schedule.doeblin(0.05)).mixing_time(0.25))\n"
        "print(spectral_gap(three_state_chain(0.1)), len(Lexicon.embedded(100).words))"
    )
    assert done.returncode == 0, done.stderr


def test_error_comes_back_from_another_process():
    error = pickle.loads(pickle.dumps(MissingExtraError("jax", "chains")))
    assert (error.module, error.extra, error.name) == ("jax", "chains", "jax")
    assert "doeblin[chains]" in str(error)
