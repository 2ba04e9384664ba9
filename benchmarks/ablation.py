"""What each source of lemmas is worth: proofs with all of them, and again without each.

    DOEBLIN_SUITES=suites/hola:suites/ice python -m benchmarks ablation

Every program is verified once for each seed with all sources, and the verdict says which sources
the lemmas of its proof are from. Then it is verified again without each of these; a source of which
a proof has no lemma can make no difference to it but for time. So the whole takes about twice as
long as the suites themselves: with seeds 0 to 2 (`DOEBLIN_SEEDS`), six times.
`DOEBLIN_SOURCES=NAME,NAME` switches off these only: most proofs have lemmas of `comparisons`, and
without it many wait for their limit. The result has a table in Markdown for the documentation.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

TIMEOUT = float(os.environ.get("DOEBLIN_TIMEOUT", "10"))


def run() -> dict[str, Any]:
    """By source: proofs with its lemmas, those that are lost without it, and seconds."""
    from doeblin.programs import SOURCES

    suites = list(filter(None, os.environ.get("DOEBLIN_SUITES", "").split(os.pathsep)))
    seeds = [int(seed) for seed in os.environ.get("DOEBLIN_SEEDS", "0,1,2").split(",")]
    found: dict[str, dict[str, Any]] = {
        name: {"used": 0, "lost": [], "seconds_with": 0.0, "seconds_without": 0.0}
        for name in os.environ.get("DOEBLIN_SOURCES", ",".join(SOURCES)).split(",")
    }
    paths = _paths(suites)
    for seed in seeds:
        whole = _verify(paths, seed)
        verdicts = Counter(f"{path.parent.name} {whole[path]['verdict']}" for path in paths)
        print(f"seed {seed}: {dict(sorted(verdicts.items()))}", flush=True)
        for name, row in found.items():
            using = [path for path in paths if name in whole[path].get("sources", ())]
            without = _verify(using, seed, name)
            row["used"] += len(using)
            for path in using:
                row["seconds_with"] += whole[path]["seconds"]
                row["seconds_without"] += without[path]["seconds"]
                if without[path]["verdict"] != whole[path]["verdict"]:
                    row["lost"].append(f"{path.parent.name}/{path.name} (seed {seed})")
            print(f"seed {seed}, {name}: {len(using)} proofs, lost {row['lost']}", flush=True)
    result = {"suites": [Path(s).name for s in suites], "seeds": seeds, "sources": found}
    return result | {"markdown": markdown(found)}


def _paths(suites: list[str]) -> list[Path]:
    from doeblin.programs.files import find_files

    return find_files(suites) if suites else []


def _verify(paths: list[Path], seed: int, *without: str) -> dict[Path, dict[str, Any]]:
    from doeblin.programs import without_sources
    from doeblin.programs.batch import Batch

    options = {"timeout": TIMEOUT, "seed": seed, "method": "default", "hints": ()}
    if not paths:
        return {}
    with Batch(paths, options | {"tunables": without_sources(without)}) as batch:
        return {paths[index]: result for index, result in batch.results()}


def markdown(found: dict[str, dict[str, Any]]) -> str:
    """A row for each source, the one that most proofs depend on first."""
    lines = [
        "| source | proofs with its lemmas | decided only with it | seconds saved on them |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, row in sorted(found.items(), key=lambda item: (-len(item[1]["lost"]), item[0])):
        saved = row["seconds_without"] - row["seconds_with"]
        lines.append(f"| `{name}` | {row['used']} | {len(row['lost'])} | {saved:.1f} |")
    return "\n".join(lines)
