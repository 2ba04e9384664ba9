"""Whatever one client sends, the others are served."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time

import httpx
import psutil
import pytest

from doeblin.programs.examples import example

from .conftest import Server, follow
from .test_api import points, prove

# Needs the whole time: no 32-bit integers are known whose cubes sum to 42, and no proof either.
ENDLESS = """
int main(void) {
  int x = unknown(), y = unknown(), z = unknown();
  while (unknown()) { x = x + y; }
  assert(x * x * x + y * y * y + z * z * z != 42);
}
"""


def still_answers(client: httpx.Client) -> None:
    answer = client.post("/api/decode", json={"points": points("the")})
    assert answer.status_code == 200 and answer.json()["candidates"][0]["word"] == "the"


def children(server: Server, kind: str) -> list[psutil.Process]:
    found = psutil.Process(server.process.pid).children(recursive=True)
    return [one for one in found if one.cmdline()[-2:-1] == [kind]]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("int main(){" + "while(1){" * 2000 + "}" * 2001, id="2000 loops"),
        pytest.param("int main(){int " + "x" * 60_000 + ";}", id="long name"),
        pytest.param("int main(){int x=" + "(" * 30_000 + "1" + ")" * 30_000 + ";}", id="brackets"),
        pytest.param("int main(){int x=" + "-" * 60_000 + "1;}", id="minus"),
        pytest.param("#define A A A\n#define B A A\nint main(){B}", id="macros"),
        pytest.param('#include "/etc/passwd"\nint main(){}', id="include"),
        pytest.param("/*" * 30_000, id="comment"),
        pytest.param("\x00\ufeff\u202e" * 1000, id="odd characters"),
    ],
)
def test_hostile_programs_get_an_answer(client, program):
    answer = client.post("/api/verify", json={"program": program, "timeout": 2})
    if answer.status_code == 202:
        events = list(follow(client, answer.json()["id"]))
        job = json.loads(events[-1][1])
        assert job["state"] in ("done", "refused", "failed", "late")
        assert (job["result"] or {}).get("verdict") != "UNSAFE"
        assert "root:" not in json.dumps(job)
    else:
        assert answer.status_code == 422 and answer.json()["error"]["message"]
    still_answers(client)


def test_half_of_a_character_is_refused_with_its_place(client):
    """JSON can write it, no file can hold it."""
    text = "int main(void) {\n  /* \ud800 */ }"
    for body in ({"program": text}, {"program": "int main(void) {}", "hints": [text]}):
        json_type = {"Content-Type": "application/json"}
        answer = client.post("/api/verify", content=json.dumps(body), headers=json_type)
        error = answer.json()["error"]
        assert answer.status_code == 422 and "half of a character" in error["message"]
        assert (error["line"], error["column"]) == (2, 6)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"points": [{"x": NaN, "y": 0, "t": 0}]}', 422),
        (b'{"points": [{"x": 1e999, "y": 0, "t": 0}]}', 422),
        (b'{"points": [{"x": "1", "y": 0, "t": 0}]}', 422),
        (b'{"points": [' + b'{"x":1,"y":1,"t":1},' * 6000 + b'{"x":1,"y":1,"t":1}]}', 422),
        (b'"\\ud800"', 422),
        (b'{"points": [], "\\ud800": 1}', 422),
        (b'{"points": [{"x": 1, "y": 1, "t": 1}], "hand": {"counts": {"\\ud800": 1}}}', 422),
        (b"\xff\xfe", 400),
    ],
)
def test_hostile_bodies_are_refused(client, body, status):
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/decode", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    still_answers(client)


@pytest.mark.parametrize(
    "program", ["int main(){int " + "x" * 1_000_000 + ";}", "while(1){" * 10_000]
)
def test_oversize_programs_are_refused(client, program):
    answer = client.post("/api/verify", json={"program": program})
    assert answer.status_code in (413, 422)
    assert answer.json()["error"]["message"]


def test_body_without_a_length_is_cut_off(client):
    sent = 0

    def endless():
        nonlocal sent
        while sent < 50_000_000:
            sent += 65536
            yield b" " * 65536

    try:
        answer = client.post("/api/decode", content=endless())
        assert answer.status_code == 413
    except httpx.WriteError:
        pass  # the server hung up in the middle, which is as good
    assert sent < 20_000_000
    still_answers(client)


def half_sent(port: int, count: int) -> list[socket.socket]:
    """Connections with parts of a request: none of it, a line, the headers, half the body."""
    request = b"POST /api/decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    for number, one in enumerate(held):
        with contextlib.suppress(OSError):  # it may have been closed for those that came after it
            one.sendall(request[: number % (len(request) + 1)])
    return held


def test_half_sent_requests_lock_nobody_out(client, server):
    """More of them than the server has connections for."""
    held = half_sent(int(server.address.rpartition(":")[2]), 1010)
    try:
        for _ in range(3):
            with server.client(5) as other:
                still_answers(other)
    finally:
        for one in held:
            one.close()


def test_late_requests_and_readers_are_hung_up_on():
    """With limits of half a second and three connections; a punctual client is served."""
    import uvicorn

    from doeblin.serve._punctual import punctual

    async def app(scope, receive, send):
        while scope["type"] == "http" and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 20_000_000})

    config = uvicorn.Config(app, lifespan="off", log_level="error", http=punctual(0.5, 3))
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        held = half_sent(port, 5)
        assert ended(held[0], 0.4) and ended(held[1], 0.4)  # for those that came after them
        assert len(httpx.get(f"http://127.0.0.1:{port}").content) == 20_000_000
        assert all(ended(one, 3) for one in held)
        trickle = half_sent(port, 1)[0]
        began = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - began < 3:
                trickle.sendall(b"G")
                time.sleep(0.05)
        trickle.close()
        reader = socket.create_connection(("127.0.0.1", port))
        reader.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(2)  # and reads nothing
        assert not running.server_state.connections
        for one in (*held, reader):
            one.close()
    finally:
        running.should_exit = True
        thread.join()
        listener.close()


def ended(connection: socket.socket, seconds: float) -> bool:
    """Does the server hang up within this time?"""
    connection.settimeout(seconds)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_killed_worker_is_replaced_and_the_client_is_told(client, server):
    before = {one.pid for one in children(server, "verify")}
    started = client.post("/api/verify", json={"program": ENDLESS, "timeout": 8}).json()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    job = json.loads(list(follow(client, started["id"]))[-1][1])
    assert job["state"] == "failed" and "died" in job["error"]["message"]
    server.wait_until_ready()
    after = {one.pid for one in children(server, "verify")}
    assert len(after) == len(before) and not after & before
    assert prove(client, example("nested"))[1]["result"]["verdict"] == "SAFE"


def test_stuck_worker_is_killed_at_its_deadline(client, server):
    started = client.post("/api/verify", json={"program": ENDLESS, "timeout": 1}).json()
    stopped = children(server, "verify")
    for one in stopped:
        one.suspend()
    job = json.loads(list(follow(client, started["id"]))[-1][1])
    assert job["state"] == "late" and "time limit" in job["error"]["message"]
    for one in stopped:
        if one.is_running():
            one.resume()
    server.wait_until_ready()


def test_cancel_is_at_once(client):
    started = client.post("/api/verify", json={"program": ENDLESS, "timeout": 8}).json()
    time.sleep(0.5)
    assert client.delete(f"/api/verify/{started['id']}").status_code == 204
    assert client.get(f"/api/verify/{started['id']}").json()["state"] == "cancelled"
    # The worker is free again, and no other program has to wait for the cancelled one's time.
    assert prove(client, example("nested"))[1]["result"]["verdict"] == "SAFE"


def test_proof_is_cancelled_when_its_listener_leaves(client):
    started = client.post("/api/verify", json={"program": ENDLESS, "timeout": 8}).json()
    with client.stream("GET", f"/api/verify/{started['id']}/events") as stream:
        next(stream.iter_lines())
    until = time.monotonic() + 6
    while time.monotonic() < until:
        if client.get(f"/api/verify/{started['id']}").json()["state"] == "cancelled":
            return
        time.sleep(0.2)
    raise AssertionError("the proof went on although nobody listened")


def test_full_queue_turns_requests_away_with_a_hint(client, server):
    server.wait_until_ready("verify")
    ids, refused = [], None
    try:
        for _ in range(50):
            answer = client.post("/api/verify", json={"program": ENDLESS, "timeout": 8}, timeout=30)
            if answer.status_code == 503:
                refused = answer
                break
            ids.append(answer.json()["id"])
    finally:
        for id in ids:
            client.delete(f"/api/verify/{id}")
    assert refused is not None and int(refused.headers["retry-after"]) >= 1
    assert "busy" in refused.json()["error"]["message"]
    assert 32 <= len(ids) <= 34  # 32 wait, up to two are at work
    still_answers(client)
    assert prove(client, example("nested"))[1]["result"]["verdict"] == "SAFE"
