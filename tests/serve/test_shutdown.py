"""The server leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import psutil
import pytest

from .conftest import COMMAND, Server, follow
from .test_hostile import ENDLESS


@pytest.mark.parametrize(
    ("how", "busy"),
    [
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.thorough),  # as with one who follows
        pytest.param(signal.SIGTERM, False, marks=pytest.mark.thorough),
        (signal.SIGINT, False),
        (signal.SIGKILL, True),
    ],
)
def test_no_process_is_left(how, busy):
    server = Server.start("--jobs", "1")
    try:
        with server.client() as client:
            if busy:
                server.wait_until_ready("verify")
                client.post("/api/verify", json={"program": ENDLESS, "timeout": 8})
            else:
                client.get("/api/health")  # workers are just starting
        workers = psutil.Process(server.process.pid).children(recursive=True)
        assert len(workers) == 3
    finally:
        status = server.stop(how)  # which waits for ten seconds at most
    # Ctrl-C and SIGTERM are how one stops it.
    assert status == (-how if how is signal.SIGKILL else 0)
    # Even if the server is killed, its workers see the end of their input and leave.
    _, left = psutil.wait_procs(workers, timeout=8)
    assert not left


def test_ctrl_c_while_workers_start_is_silent():
    """A terminal sends it to the whole group of processes."""
    process = subprocess.Popen(
        [*COMMAND, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and "doeblin is at" in process.stdout.readline()
    while len(psutil.Process(process.pid).children()) < 3:
        time.sleep(0.01)
    time.sleep(0.2)  # they import
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=20)[1] == "" and process.returncode == 0


def test_who_follows_a_proof_is_told(capfd):
    server = Server.start("--jobs", "1")
    try:
        server.wait_until_ready("verify")
        with server.client(30) as client:
            job = client.post("/api/verify", json={"program": ENDLESS, "timeout": 8}).json()
            told = follow(client, job["id"])
            next(told)
            server.process.send_signal(signal.SIGTERM)
            *_, (event, data) = told
        assert event == "end" and "shutting down" in json.loads(data)["error"]["message"]
    finally:
        assert server.stop() == 0
    assert capfd.readouterr().err == ""


def test_port_that_is_taken_is_one_clear_line(server):
    port = server.address.rpartition(":")[2]
    done = subprocess.run(
        [*COMMAND, "--port", port],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3
    assert f"port {port}" in done.stderr and "--port" in done.stderr
    assert len(done.stderr.splitlines()) == 1
