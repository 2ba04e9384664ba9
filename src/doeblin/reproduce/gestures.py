"""The paper's gesture experiment, cell by cell: resumable, on as many processes as there are."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import InputError, Place
from .._fleet import Fleet, finished
from ..gestures.paper import METHODS, Engine, Task, make_task, run_method, without_chains
from .gestures_report import report

COMPARED = ("doeblin", "u-gibbs", "basic-gibbs")
CONTROLS = (
    "doeblin, baseline",
    "doeblin, frozen u",
    "doeblin, run for a fixed T",
    "u by reward, then gibbs",
)
ESTIMATORS = ("reversal", "bidirectional")
BLOCKS = ("block kernel", "block kernel, reversal", "block kernel, bidirectional")
# Step sizes are chosen on half as many words of a data set of their own, so that none has seen a
# test gesture.
_DEV_SEED = 10_000
_DEV_PASSES = 2
_EXTENSIONS = 3
_CHAINS = 16
# A transition of the block kernel costs about this many of single-site Gibbs.
_BLOCK_COST = 4


@dataclass(frozen=True)
class Size:
    """How large the experiment is. `many` words are for the runs that need more data, or 0."""

    budgets: tuple[int, ...] = (20, 50, 100)
    words: int = 2000
    many: int = 8000
    dev: int = 300
    test: int = 500
    seeds: int = 5
    passes: int = 5
    many_passes: int = 3
    steps: tuple[float, ...] = (0.03, 0.1, 0.3)
    """Step sizes to begin with, ascending; chosen by word accuracy on development gestures."""
    noise: float = 0.7
    first_seed: int = 0
    engine: Engine = "compiled"
    """What trains and runs the chains, see `run_method`."""
    batch: int = 32
    """Gestures a step of AdaGrad, on the library."""

    def __post_init__(self):
        numbers = (
            *self.budgets,
            self.words,
            self.dev,
            self.test,
            self.seeds,
            self.passes,
            self.many_passes,
            self.batch,
        )
        if min(numbers) < 1 or not self.steps:
            raise InputError(f"every size of the experiment must be at least 1, got {self}")
        if not 0 <= self.first_seed <= _DEV_SEED - self.seeds:
            raise InputError(
                f"data seeds {self.first_seed} to {self.first_seed + self.seeds - 1} must be among "
                f"0 to {_DEV_SEED - 1}: {_DEV_SEED} is where step sizes are chosen"
            )

    @property
    def data_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    @property
    def digest(self) -> str:
        """Names what a cell's result depends on beside the cell itself."""
        told = (self.dev, self.test, self.passes, self.many, self.many_passes, self.noise)
        if self.engine == "library":
            told += (self.engine, self.batch)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:8]


QUICK = Size(
    budgets=(20, 50),
    words=400,
    many=0,
    dev=100,
    test=200,
    seeds=2,
    passes=2,
    steps=(0.05, 0.2),
    batch=8,
)


@dataclass(frozen=True)
class Job:
    """A method at a mean number of transitions, on so many words, with 53 or 27 labels."""

    method: str
    transitions: int
    words: int
    labels: int = 53


@dataclass(frozen=True)
class Cell:
    """One piece of work: a job on one data seed at one step size.

    Its `kind` is "run" (test accuracy after each pass), "step" (development accuracy), or "plain"
    (the controls without chains).
    """

    kind: str
    job: Job
    seed: int
    step: float = 0.0

    @property
    def name(self) -> str:
        method = self.job.method.replace(", ", "-").replace(" ", "-")
        numbers = "-".join(str(value) for value in astuple(self.job)[1:])
        return f"{self.kind}-{method}-{numbers}-{self.seed}-{self.step:g}.json"

    @property
    def cost(self) -> float:
        """About how long it takes, in transitions; to begin with the longest."""
        factor = _BLOCK_COST if METHODS[self.job.method].proposals else 1
        passes = 1 if self.kind == "step" else 3
        return factor * passes * self.job.words * self.job.transitions


def jobs(size: Size) -> list[Job]:
    """All runs for one seed."""
    least, most = size.budgets[0], size.budgets[-1]
    runs = [Job(name, t, size.words) for name in COMPARED for t in size.budgets]
    # The library's bidirectional walks need a kernel's transition probabilities, and the block
    # kernel's are sums that cannot be enumerated.
    blocks = BLOCKS if size.engine == "compiled" else BLOCKS[:-1]
    runs += [Job(name, least, size.words) for name in (*CONTROLS, *ESTIMATORS, *blocks)]
    runs.append(Job("block kernel", max(1, least // _BLOCK_COST), size.words))
    runs += [Job(name, least, size.words, 27) for name in ("doeblin", "u-gibbs")]
    if size.many:
        runs += [Job(name, least, size.many) for name in ("doeblin", "u-gibbs", "block kernel")]
        runs.append(Job("u-gibbs", most, size.many))
    return runs


def gesture_experiment(
    size: Size,
    folder: Path,
    *,
    fleet: Fleet | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """The whole experiment, ready for JSON. Results repeat exactly.

    What is done is kept in `folder`, one file a cell; a cell found there is not run again.
    The workers of a `fleet` must see the folder. It is for the compiled engine: a GPU is for one
    process alone.
    """
    start = time.perf_counter()
    folder = folder.resolve() / f"cells-{size.digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write here: {error.strerror}", place=Place(str(folder))) from None
    say = progress or (lambda text: None)
    if size.engine == "compiled":
        _compile()  # once, for all processes
    steps = _chosen_steps(size, folder, fleet, say)
    cells = [
        Cell("run", job, seed, steps[_tuned(job)]) for job in jobs(size) for seed in size.data_seeds
    ]
    plain = Job("doeblin", size.budgets[0], size.words)
    cells += [Cell("plain", plain, seed) for seed in size.data_seeds]
    found = _run_all(size, folder, cells, fleet, say)
    seconds = sum(json.loads(path.read_text())["seconds"] for path in folder.glob("*.json"))
    return {
        **report(size, jobs(size), steps, found),
        "cpu_seconds": seconds,
        "wall_seconds": time.perf_counter() - start,
        "processes": 1 if fleet is None else fleet.width(),
    }


def _tuned(job: Job) -> tuple[str, int]:
    """What has a step size of its own."""
    return job.method, job.transitions


def _chosen_steps(
    size: Size, folder: Path, fleet: Fleet | None, say: Callable[[str], None]
) -> dict[tuple[str, int], float]:
    """The best step sizes on development gestures; a best one at the end of the grid extends it."""
    tried = {_tuned(job): list(size.steps) for job in jobs(size)}
    if len(size.steps) == 1:
        return {kind: steps[0] for kind, steps in tried.items()}
    words = max(1, size.words // 2)
    while True:
        cells = {
            kind: [Cell("step", Job(*kind, words), _DEV_SEED, step) for step in steps]
            for kind, steps in tried.items()
        }
        found = _run_all(size, folder, [one for own in cells.values() for one in own], fleet, say)
        best = {
            kind: max(own, key=lambda cell: found[cell]["accuracy"]).step
            for kind, own in cells.items()
        }
        grown = False
        for kind, steps in tried.items():
            if len(steps) < len(size.steps) + _EXTENSIONS and best[kind] in (steps[0], steps[-1]):
                grown = True
                if best[kind] == steps[0]:
                    steps.insert(0, _rounded(steps[0] ** 2 / steps[1]))
                else:
                    steps.append(_rounded(steps[-1] ** 2 / steps[-2]))
        if not grown:
            return best


def _rounded(step: float) -> float:
    return float(f"{step:.1g}")


def _run_all(
    size: Size,
    folder: Path,
    cells: Sequence[Cell],
    fleet: Fleet | None,
    say: Callable[[str], None],
) -> dict[Cell, dict[str, Any]]:
    """The results of all cells; those not found in the folder are run, the longest first."""
    waiting = [cell for cell in cells if not (folder / cell.name).exists()]
    waiting.sort(key=lambda cell: (-cell.cost, cell.seed))
    if len(waiting) < len(cells):
        say(f"{len(cells) - len(waiting)} of {len(cells)} cells were done before")
    if waiting and size.engine == "library":
        _compile_library(size, folder, waiting, say)
    done = finished(fleet, partial(run_cell, size, folder), waiting)
    for number, (index, _) in enumerate(done, 1):
        say(f"{number}/{len(waiting)} {waiting[index].name.removesuffix('.json')}")
    return {cell: json.loads((folder / cell.name).read_text()) for cell in cells}


def run_cell(size: Size, folder: Path, cell: Cell) -> None:
    """Runs a cell and writes its result."""
    start = time.process_time()
    job = cell.job
    task = _task(size, folder, job.words, job.labels == 53, cell.seed)
    result: dict[str, Any]
    if cell.kind == "plain":
        plain = without_chains(task, _CHAINS * job.transitions)
        result = {name: values.tolist() for name, values in plain.items()}
    else:
        if size.engine == "compiled":
            _compile()
        tuning = cell.kind == "step"
        passes = size.many_passes if job.words == size.many else size.passes
        passes = _DEV_PASSES if tuning else passes
        curve = run_method(
            task,
            METHODS[job.method],
            job.transitions,
            passes=passes,
            step=cell.step,
            chains=_CHAINS,
            on_dev=tuning,
            only_last=tuning,
            engine=size.engine,
            batch=size.batch,
        )
        if tuning:
            result = {"accuracy": float(curve.values[-1, :, 0].mean())}
        else:
            result = {
                "curve": curve.values.mean(axis=1).tolist(),
                "final": np.round(curve.values[-1], 6).tolist(),
                "transitions": curve.transitions,
                "train_seconds": curve.seconds.tolist(),
                "test_ms": 1000 * curve.test_seconds,
            }
    result = {"cell": asdict(cell), "seconds": time.process_time() - start, **result}
    _write(folder / cell.name, lambda aside: aside.write_text(json.dumps(result)))


@lru_cache(maxsize=1)
def _compile() -> None:
    """Compiles what the cells run, or loads it, so that their seconds are those of the work."""
    task = make_task(num_train=4, num_dev=1, num_test=1, seed=0, noise=0.5, dictionary_size=50)
    for method in METHODS.values():
        run_method(task, method, 1, passes=1, step=0.1, chains=2)


def _compile_library(
    size: Size, folder: Path, cells: Sequence[Cell], say: Callable[[str], None]
) -> None:
    """Compiles what the cells run, which takes longer than running it, on all cores at once."""
    from ..gestures.paper.library_run import Setting

    kinds = {
        (cell.job.method, cell.job.transitions, cell.job.labels): cell
        for cell in cells
        if cell.kind != "plain"
    }
    say(f"compiling {len(kinds)} programs")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = []
        for (name, transitions, labels), cell in kinds.items():
            task = _task(size, folder, cell.job.words, labels == 53, cell.seed)
            setting = Setting(
                task, METHODS[name], transitions, _CHAINS, size.batch, cell.kind == "step"
            )
            futures.append(pool.submit(setting.compile))
        for future in as_completed(futures):
            future.result()


@lru_cache(maxsize=2)
def _task(size: Size, folder: Path, words: int, hard: bool, seed: int) -> Task:
    """The data, and u trained on them, which is kept in the folder too."""
    path = folder / f"u-{words}-{53 if hard else 27}-{seed}.npy"
    restart = np.load(path, allow_pickle=False) if path.exists() else None
    task = make_task(
        num_train=words,
        num_dev=size.dev,
        num_test=size.test,
        seed=seed,
        hard=hard,
        noise=size.noise,
        restart=restart,
    )
    if restart is None:

        def save(aside: Path) -> None:
            with aside.open("wb") as file:
                np.save(file, task.restart)

        _write(path, save)
    return task


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes beside and renames, so that a file that is there is whole."""
    aside = path.with_suffix(f".{platform.node()}-{os.getpid()}")
    write(aside)
    aside.replace(path)


def fitting_engine() -> Engine:
    """The library where JAX sees an accelerator, else compiled code."""
    try:
        import jax
    except ImportError:
        return "compiled"
    return "compiled" if jax.default_backend() == "cpu" else "library"
