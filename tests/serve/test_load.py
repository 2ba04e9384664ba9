"""Fifty clients at once: no errors, bounded memory.

Short in the suite; `make load` runs it for the full half minute.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil

from doeblin.programs.examples import example

from .test_api import UNIFORM, points

SECONDS = float(os.environ.get("DOEBLIN_LOAD_SECONDS", "2"))
CLIENTS = 50
WORDS = ("the", "hello", "chain", "probability", "restart", "swipe")
MATRIX = [[0.9, 0.1, 0.0], [0.25, 0.5, 0.25], [0.0, 0.2, 0.8]]


def test_fifty_clients_see_no_error(server, capsys):
    tree = psutil.Process(server.process.pid)
    _run(server.address, 1)  # what is loaded once is no growth
    before = _memory(tree)
    times = _run(server.address, SECONDS)
    after = _memory(tree)
    times.sort()
    with capsys.disabled():
        print(
            f"\nload: {len(times)} requests of {CLIENTS} clients in {SECONDS:g} s, no errors; "
            f"median {1000 * times[len(times) // 2]:.0f} ms, "
            f"99 % {1000 * times[int(0.99 * len(times))]:.0f} ms; "
            f"memory {before >> 20} to {after >> 20} MiB"
        )
    assert len(times) >= CLIENTS
    assert after - before < 200 << 20


def _run(address: str, seconds: float) -> list[float]:
    """In a thread of its own: the browser's tests keep an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(_load(address, time.monotonic() + seconds))).result()


def _memory(tree: psutil.Process) -> int:
    return sum(one.memory_info().rss for one in [tree, *tree.children(recursive=True)])


async def _load(address: str, until: float) -> list[float]:
    traces = [points(word, seed) for seed, word in enumerate(WORDS)]
    times: list[float] = []

    async def client(number: int) -> None:
        rng = random.Random(number)
        while time.monotonic() < until:
            start = time.monotonic()
            await (_prove(http) if number % 10 == 0 else _quick(http, rng, traces))
            times.append(time.monotonic() - start)

    each_its_own = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(
        base_url=address, timeout=30, limits=each_its_own, verify=False
    ) as http:
        await asyncio.gather(*map(client, range(CLIENTS)))
    return times


async def _quick(http: httpx.AsyncClient, rng: random.Random, traces: list) -> None:
    kind = rng.choice(("decode", "decode", "decode", "tours", "chain", "certify", "page"))
    if kind in ("decode", "tours"):
        answer = await http.post(f"/api/{kind}", json={"points": rng.choice(traces)})
    elif kind == "chain":
        body = {"matrix": MATRIX, "restart": UNIFORM, "epsilon": rng.uniform(0.01, 1)}
        answer = await http.post("/api/chain", json=body)
    elif kind == "certify":
        answer = await http.post("/api/certify", json={"exits": [1.0, rng.uniform(0.1, 1)]})
    else:
        answer = await http.get(rng.choice(("/", "/js/swipe.js", "/css/base.css", "/openapi.json")))
    assert answer.status_code == 200, answer.text


async def _prove(http: httpx.AsyncClient) -> None:
    started = await http.post("/api/verify", json={"program": example("fig1")})
    assert started.status_code == 202, started.text
    path = f"/api/verify/{started.json()['id']}"
    while (job := (await http.get(path)).json())["state"] in ("queued", "running"):
        await asyncio.sleep(0.05)
    assert job["state"] == "done" and job["result"]["verdict"] == "SAFE", job
