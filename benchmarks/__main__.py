"""`python -m benchmarks [NAME …]`: run the named benchmarks (all by default) and write their JSON.

A benchmark is a module of this package with a function `run() -> dict`; its result goes to
`benchmarks/results/NAME.json`, with the machine's description beside it. Those on data that are not
shipped have a function `run(data)` instead; they are left out where no `--data` name a file.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import pkgutil
import platform
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    names = sorted(m.name for m in pkgutil.iter_modules([str(HERE)]) if not m.name.startswith("_"))
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*names, []], help="which ones (default: all)")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where the JSON goes")
    parser.add_argument(
        "--data", type=Path, help="the data of benchmarks that ship none (snakes, letters, tags)"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    machine = {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    for name in options.name or names:
        print(f"== {name}", flush=True)
        run = importlib.import_module(f"benchmarks.{name}").run
        needs_data = "data" in inspect.signature(run).parameters
        if needs_data and options.data is None:
            print("left out: name its data by --data", flush=True)
            continue
        result = run(options.data) if needs_data else run()
        path = options.out / f"{name}.json"
        path.write_text(json.dumps({"machine": machine, **result}, indent=2) + "\n")
        print(f"wrote {path}", flush=True)


if __name__ == "__main__":
    main()
