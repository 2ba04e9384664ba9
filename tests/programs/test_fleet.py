"""Many files on many workers: none is lost when a worker is; what is known is not done again."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import socket
import threading
import time
from collections import Counter
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from rich.progress import Progress

from doeblin import InputError, _fleet
from doeblin._fleet import Fleet, Lost, Needs, WorkerLostError, completed, finished, processes
from doeblin.cli import main
from doeblin.cli._console import fleet
from doeblin.gestures.decoder import _evaluation
from doeblin.programs.batch import Batch
from doeblin.programs.examples import example
from doeblin.programs.journal import Journal
from doeblin.reproduce import gestures

OPTIONS = {"timeout": 10.0, "seed": 0, "method": "default", "hints": ()}
SLOW = """int main() {
  int a = unknown(), b = unknown(), c = unknown(), s = 0;
  while (unknown()) { s = s + a * b - c; a = b * c; b = a + s; c = a * a; }
  assert(s * s != a * b * 7 + 1111);
}"""
EMPTY = "int main() { assert(1); }"


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main(["verify", *map(str, arguments)])
    return int(end.value.code or 0)


# ---- any executor


def test_answers_come_as_they_are_ready_and_lost_ones_are_tried_again():
    tries: Counter[str] = Counter()
    first = threading.Event()

    def work(task: str) -> str:
        tries[task] += 1
        if (task == "fragile" and tries[task] == 1) or task == "deadly":
            raise WorkerLostError("killed by SIGKILL")
        if task == "slow":
            first.wait(10)
        return task.upper()

    tasks = ["slow", "fragile", "deadly", "quick"]
    flying: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        found = []
        for index, answer in completed(Fleet(pool, lambda: 2), work, tasks, flying.append):
            found.append((tasks[index], answer))
            if tasks[index] == "quick":
                first.set()
    assert found[-1] == ("slow", "SLOW") and ("fragile", "FRAGILE") in found
    gone = dict(found)["deadly"]
    assert (
        isinstance(gone, Lost) and "died 2 times; the last time: killed by SIGKILL" in gone.reason
    )
    assert tries == {"slow": 1, "fragile": 2, "deadly": 2, "quick": 1}
    assert max(flying) == 2


def test_faults_of_a_task_are_raised_and_not_tried_again():
    tries: list[int] = []

    def work(task: int) -> None:
        tries.append(task)
        raise (CancelledError if task else ZeroDivisionError)

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ZeroDivisionError):
            list(completed(Fleet(pool, lambda: 1), work, [0]))
        with pytest.raises(InputError, match="the scheduler is gone"):
            list(completed(Fleet(pool, lambda: 1, "the scheduler"), work, [1]))
    assert tries == [0, 1]


def test_a_fleet_without_workers_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(_fleet, "PATIENCE", 0.01)
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="no workers for"):
        list(completed(Fleet(pool, lambda: 0), str, [1]))


# ---- processes of this machine


def kill_when_born(parent: psutil.Process, times: int) -> threading.Thread:
    """Kill so many of the children to come, each when it is at work; those of other tests live."""
    spared = {child.pid for child in parent.children()}

    def watch() -> None:
        left, until = times, time.monotonic() + 60
        while left and time.monotonic() < until:
            for child in parent.children():
                if child.pid not in spared and child.status() != psutil.STATUS_ZOMBIE:
                    time.sleep(0.3)
                    os.kill(child.pid, signal.SIGKILL)
                    spared.add(child.pid)
                    left -= 1
            time.sleep(0.01)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_a_file_whose_process_is_killed_twice_is_unknown_and_the_others_are_not(tmp_path: Path):
    (tmp_path / "deadly.c").write_text(SLOW)
    (tmp_path / "fine.c").write_text(EMPTY)
    paths = [tmp_path / "deadly.c", tmp_path / "fine.c"]
    before = {child.pid for child in psutil.Process().children()}
    with Batch(paths, OPTIONS) as batch:
        killer = kill_when_born(psutil.Process(), 2)
        found = {Path(result["file"]).name: result for _, result in batch.results()}
        killer.join()
    assert found["deadly.c"]["verdict"] == "UNKNOWN"
    assert "died 2 times; the last time: killed by SIGKILL" in found["deadly.c"]["reason"]
    assert found["fine.c"]["verdict"] == "SAFE"
    assert {child.pid for child in psutil.Process().children()} <= before


def test_a_process_that_dies_costs_its_own_task_a_retry_and_no_other(tmp_path: Path):
    """The tasks are expressions, so that processes need not import this file."""
    die = "__import__('os').kill(__import__('os').getpid(), 9)"
    once = f"open({str(tmp_path / 'seen')!r}, 'x') and {die}"  # the second time it is there
    fragile = f"'alive' if __import__('os').path.exists({str(tmp_path / 'seen')!r}) else {once}"
    with processes(2) as two:
        found = dict(completed(two, eval, [die, fragile, "6 * 7", "'more'"]))
        assert isinstance(found[0], Lost) and "died 2 times; the last time: its process" in str(
            found[0]
        )
        assert [found[index] for index in (1, 2, 3)] == ["alive", 42, "more"]
        with pytest.raises(InputError, match="one of 1 tasks was given up: its worker died 2"):
            list(finished(two, eval, [die]))
        assert dict(finished(two, eval, ["'after'"])) == {0: "after"}
    assert dict(finished(None, eval, ["1", "2"])) == {0: 1, 1: 2}
    with processes(10**9) as many:  # as many as there are tasks
        assert dict(finished(many, eval, ["6 * 7"])) == {0: 42}


# ---- a cluster


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=False
    ) as found:
        yield found


@pytest.mark.filterwarnings("default")
def test_a_worker_of_a_cluster_that_is_killed_costs_no_result(
    cluster, tmp_path: Path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "a_slow.c").write_text(SLOW)
    (folder / "b_fig1.c").write_text(example("fig1"))
    (folder / "c_bad.c").write_text("int main( {")
    (folder / "d_empty.c").write_text(EMPTY)
    killed: list[int] = []

    def kill() -> None:
        """A worker that is at work."""
        until = time.monotonic() + 60
        while not killed and time.monotonic() < until:
            for nanny in list(cluster.workers.values()):
                state = cluster.scheduler.workers.get(nanny.worker_address)
                children = psutil.Process(nanny.pid).children()
                busy = state is not None and state.processing
                if busy and children and time.time() - children[0].create_time() > 1.5:
                    killed.append(nanny.pid)
                    os.kill(nanny.pid, signal.SIGKILL)
                    return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    where = ("--cluster", cluster.scheduler_address, "--resume", "results.jsonl")
    assert run("programs", *where, "--timeout", 3, "--jsonl") == 3
    killer.join()
    assert killed
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    verdicts = {row["file"]: row["verdict"] for row in rows}
    assert verdicts == {
        "programs/a_slow.c": "UNKNOWN",
        "programs/b_fig1.c": "SAFE",
        "programs/c_bad.c": "ERROR",
        "programs/d_empty.c": "SAFE",
    }
    reasons = {row["file"]: row["reason"] for row in rows}
    assert len(rows) == 4 and "time limit" in reasons["programs/a_slow.c"]
    assert "programs/c_bad.c:1:9: " in reasons["programs/c_bad.c"]


def test_workers_of_another_version_are_refused(cluster, tmp_path: Path, capsys, monkeypatch):
    (tmp_path / "a.c").write_text(EMPTY)
    monkeypatch.setattr(_fleet, "__version__", "0.0.1")
    where = ("--cluster", cluster.scheduler_address, "--resume", tmp_path / "results.jsonl")
    assert run(tmp_path, *where) == 3
    error = capsys.readouterr().err
    assert "has doeblin" in error and "but this is 0.0.1" in error and error.count("\n") == 1


def test_workers_that_come_later_are_asked_by_their_tasks(cluster, tmp_path: Path, monkeypatch):
    for version, seen, reason in (
        ("0.0.1", None, "but this is 0.0.1"),
        (_fleet.__version__, str(tmp_path / "nowhere"), "does not see the folder '.*nowhere'"),
    ):
        needs = Needs(version, seen, False)
        monkeypatch.setattr(_fleet, "Needs", lambda *given, needs=needs: needs)
        with (
            fleet(1, cluster.scheduler_address) as workers,
            pytest.raises(InputError, match=f"which came later, .*{reason}"),
        ):
            list(finished(workers, eval, ["1"]))


def test_a_suite_is_measured_on_a_cluster(cluster, tmp_path: Path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "empty.c").write_text(EMPTY)
    (tmp_path / "suite" / "bad.c").write_text("int main() { int x = 3; assert(x <= 2); }")
    (tmp_path / "expected.tsv").write_text("suite\tempty.c\tsafe\nsuite\tbad.c\tsafe\n")
    where = ["--cluster", cluster.scheduler_address, "--resume", "results.jsonl"]
    seen = []
    for _ in range(2):
        with pytest.raises(SystemExit) as end:
            main(["bench", "verify", "suite", "--no-peers", "--json", "--method", "spacer", *where])
        seen.append(json.loads(capsys.readouterr().out))
        assert end.value.code == 4  # one verdict is not the expected one
    (row,) = seen[0]["table"]
    assert (row["safe"], row["unsafe"], row["differs"]) == (1, 1, 1)
    # The second time there was nothing left to do.
    assert seen[0] == seen[1]
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2


def test_a_search_runs_on_a_cluster(cluster, tmp_path: Path, capsys):
    rows = "".join(f"{x},{x < 3}\n" for x in range(6))
    (tmp_path / "examples.csv").write_text("x,f\n" + rows)
    with pytest.raises(SystemExit) as end:
        main(["formula", str(tmp_path / "examples.csv"), "--cluster", cluster.scheduler_address])
    assert end.value.code == 0 and "x <= 2" in capsys.readouterr().out


def test_trials_of_the_paper_s_programs_run_on_a_cluster(
    cluster, tmp_path: Path, capsys, monkeypatch
):
    from doeblin.reproduce.programs import program_table

    monkeypatch.setitem(program_table.__kwdefaults__, "programs", ("fig1",))
    monkeypatch.setitem(program_table.__kwdefaults__, "methods", ("default",))
    command = ["reproduce", "programs", "--no-peers", "--out", str(tmp_path), "--json"]
    command += ["--cluster", cluster.scheduler_address, "--trials"]
    for trials in (12, 13):
        with pytest.raises(SystemExit) as end:
            main([*command, str(trials)])
        (row,) = json.loads(capsys.readouterr().out)["methods"]
        assert end.value.code == 0 and row["trials"] == trials and row["unsolved"] == 0
    # What was done before was not done again.
    lines = (tmp_path / "programs-10s.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["seed"] for line in lines) == list(range(13))


@pytest.mark.thorough  # each worker compiles the engine; trials are above
def test_instances_of_formulas_are_solved_on_a_cluster(cluster, tmp_path: Path, capsys):
    command = f"reproduce formulas --quick --json --out {tmp_path} --cluster"
    with pytest.raises(SystemExit) as end:
        main([*command.split(), cluster.scheduler_address])
    assert end.value.code == 0 and json.loads(capsys.readouterr().out)


@pytest.mark.thorough  # each worker loads the decoder; trials are above
def test_a_decoder_is_evaluated_on_a_cluster_as_it_is_here(
    cluster, tmp_path: Path, capsys, monkeypatch
):
    monkeypatch.setattr(_evaluation, "_PART", 64)
    data = tmp_path / "made.jsonl"
    make = f"gestures generate --count 150 --lexicon-size 200 --out {data}"
    measure = f"gestures evaluate generated {data} --lexicon-size 200 --json"
    reports = []
    for command in (make, measure, f"{measure} --cluster {cluster.scheduler_address}"):
        with pytest.raises(SystemExit) as end:
            main(command.split())
        assert end.value.code == 0
        reports.append(capsys.readouterr().out)
    alone, spread = (json.loads(report) for report in reports[1:])
    assert alone.pop("ms_per_word") > 0 and spread.pop("ms_per_word") > 0
    assert alone == spread and alone["all"]["words"] == 150


@pytest.mark.thorough  # each worker compiles the experiment's engine
def test_cells_of_the_gesture_experiment_run_on_a_cluster(cluster, tmp_path: Path):
    size = gestures.Size(budgets=(3,), words=30, many=0, dev=10, test=10, seeds=2, passes=1)
    cells = [gestures.Cell("plain", gestures.Job("doeblin", 3, 30), seed) for seed in (0, 1)]
    found: list[list[dict]] = []
    for address in (cluster.scheduler_address, None):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        with fleet(1, address, seen=str(folder), single=True) as workers:
            rows = gestures._run_all(size, folder, cells, workers, lambda text: None)
        found.append([{**rows[cell], "seconds": 0} for cell in cells])
    assert found[0] == found[1] and found[0][0] != found[0][1]


def test_workers_that_cannot_do_it_are_refused(cluster, tmp_path: Path, capsys):
    address = cluster.scheduler_address
    with (
        pytest.raises(InputError, match=r"does not see the folder '.*nowhere'"),
        fleet(1, address, seen=str(tmp_path / "nowhere")),
    ):
        pass
    with pytest.raises(SystemExit) as end:
        main(f"reproduce gestures --engine library --cluster {address} --out {tmp_path}".split())
    assert end.value.code == 3 and "it takes no --cluster" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense", "", "tcp://host:port"])
def test_an_address_without_a_scheduler_is_refused(address: str, tmp_path: Path, capsys):
    (tmp_path / "a.c").write_text(EMPTY)
    assert run(tmp_path, "--cluster", address) == 3
    error = capsys.readouterr().err
    assert f"there is no Dask scheduler at '{address}'" in error and error.count("\n") == 1


# ---- results on file


def test_one_who_takes_the_call_and_says_nothing_is_no_scheduler(
    tmp_path: Path, capsys, monkeypatch
):
    monkeypatch.setattr(_fleet, "ANSWER", 1.0)
    (tmp_path / "a.c").write_text(EMPTY)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert run(tmp_path, "--cluster", f"127.0.0.1:{silent.getsockname()[1]}") == 3
    error = capsys.readouterr().err
    assert "nobody answers within 1 s" in error and error.count("\n") == 1
    # A scheduler that dies makes Dask's client print a traceback, unless it is told not to.
    assert not logging.getLogger("distributed.client").isEnabledFor(logging.CRITICAL)


def test_only_what_is_missing_is_done(tmp_path: Path, monkeypatch, capsys):
    folder, results = tmp_path / "programs", tmp_path / "results.jsonl"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.c").write_text(EMPTY)
    asked: list[str] = []

    def answers(self, watch):
        for index, path in enumerate(self.paths):
            asked.append(path.stem)
            yield index, {"file": str(path), "verdict": "SAFE", "reason": "", "seconds": 0.5}

    monkeypatch.setattr(Batch, "results", answers)

    def again(*more: object) -> str:
        asked.clear()
        run(folder, "--resume", results, "--jsonl", *more)
        lines = capsys.readouterr().out.splitlines()
        assert sorted(Path(json.loads(line)["file"]).stem for line in lines) == ["a", "b", "c"]
        return "".join(asked)

    assert again() == "abc" and again() == ""
    # The last line is cut off, as by a kill; the file is gone on from, and is whole again.
    text = results.read_text()
    results.write_text(text[: text.rindex("verdict")])
    assert again() == "c" and again() == ""
    (folder / "b.c").write_text("int main() { assert(0); }")
    assert again() == "b"
    assert again("--timeout", 3) == "abc"  # asked in another way
    assert again() == ""
    (folder / "a.c").write_text('#include "limits.h"\n' + EMPTY)
    assert again() == "a" and again() == ""
    (folder / "limits.h").write_text("#define LIMIT 3")
    assert again() == "a" and again() == ""


@pytest.mark.parametrize(
    "text",
    [
        EMPTY,
        '{"name": "doeblin", "version": 1}',
        '{"file": "a.c", "verdict": "PERHAPS", "reason": "", "seconds": 1}',
        '{"file": "a.c", "verdict": "SAFE", "reason": "", "seconds": "long"}',
        "[1, 2]",
        "null",
    ],
)
def test_a_file_that_holds_no_results_is_refused_and_left_alone(text: str, tmp_path: Path):
    path = tmp_path / "a.c"
    path.write_text(text)
    with pytest.raises(InputError, match=r"a.c:1: this is no file of results"):
        Journal(path, [path], OPTIONS, "c")
    assert path.read_text() == text


def test_errors_are_tried_again(tmp_path: Path):
    """They may be those of a machine: one that does not see the file, say."""
    path, results = tmp_path / "a.c", tmp_path / "results.jsonl"
    path.write_text(EMPTY)
    result = {"file": str(path), "verdict": "ERROR", "reason": "not here", "seconds": 0.0}
    for verdict, known in (("ERROR", {}), ("SAFE", {0: result | {"verdict": "SAFE"}})):
        Journal(results, [path], OPTIONS, "c").add(0, result | {"verdict": verdict})
        assert Journal(results, [path], OPTIONS, "c").done == known


def test_two_runs_may_write_to_one_file(tmp_path: Path):
    paths = [tmp_path / f"{n}.c" for n in range(40)]
    for path in paths:
        path.write_text(EMPTY)
    results = tmp_path / "results.jsonl"

    def work(journal: Journal) -> None:
        for n, path in enumerate(paths):
            reason = "long " * 5000
            journal.add(n, {"file": str(path), "verdict": "SAFE", "reason": reason, "seconds": 1.0})

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, [Journal(results, paths, OPTIONS, "c") for _ in range(2)]))
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert Counter(row["file"] for row in rows) == {str(path): 2 for path in paths}
    assert len(Journal(results, paths, OPTIONS, "c").done) == 40


# ---- what is shown meanwhile


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_says_what_is_done_in_flight_and_failed(tmp_path: Path, monkeypatch):
    for name in "abc":
        (tmp_path / f"{name}.c").write_text(EMPTY)
    told: list[tuple[int, int, int]] = []

    def update(self, task, *, completed: int, flying: int, failed: int) -> None:
        told.append((completed, flying, failed))
        refresh(self, task, completed=completed, flying=flying, failed=failed)

    def answers(self, watch):
        watch(2)
        for index, more in enumerate(({}, {"verdict": "ERROR"}, {"lost": True})):
            result = {"file": "", "verdict": "SAFE", "reason": "", "seconds": 0.5}
            yield index, result | more
            watch(2 - index)

    refresh = Progress.update
    monkeypatch.setattr(Progress, "update", update)
    monkeypatch.setattr(Batch, "results", answers)
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    run(tmp_path)
    done_flying_failed = [
        (0, 2, 0),
        (1, 1, 0),
        (1, 2, 0),
        (2, 1, 1),
        (2, 1, 1),
        (3, 0, 2),
        (3, 0, 2),
    ]
    assert told == done_flying_failed
    assert "3 of 3 done, 0 in flight, 2 failed" in screen.getvalue()
