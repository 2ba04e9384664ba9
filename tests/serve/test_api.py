"""What the API says is what the library says."""

from __future__ import annotations

import asyncio
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest

from doeblin.cli import main
from doeblin.finite import restarted_law, stationary, three_state_chain
from doeblin.gestures import Generator, Layout
from doeblin.programs.examples import example, names
from doeblin.schedules import Schedule, certify

from .conftest import COMMAND, SECONDS, follow

UNIFORM = [1 / 3, 1 / 3, 1 / 3]


def points(word: str, seed: int = 0, noise: float = 0.3) -> list[dict[str, float]]:
    gesture = Generator(Layout.qwerty(), noise=noise).gesture(word, np.random.default_rng(seed))
    rows = zip(gesture.x, gesture.y, gesture.t, strict=True)
    return [{"x": float(x), "y": float(y), "t": float(t)} for x, y, t in rows]


def prove(client: httpx.Client, program: str, **options) -> tuple[list[str], dict]:
    """Event names, and the job at its end."""
    given = {"program": program, "timeout": SECONDS, **options}
    started = client.post("/api/verify", json=given)
    assert started.status_code == 202, started.text
    events = list(follow(client, started.json()["id"]))
    assert events[-1][0] == "end"
    end = json.loads(events[-1][1])
    assert client.get(f"/api/verify/{end['id']}").json() == end
    return [name for name, _ in events], end


def decoded(client: httpx.Client, **body: Any) -> list[dict[str, Any]]:
    answer = client.post("/api/decode", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["candidates"]


def test_decode_gives_words_with_probabilities(client):
    candidates = decoded(client, points=points("hello"), k=3)
    assert candidates[0]["word"] == "hello" and len(candidates) == 3
    chances = [candidate["probability"] for candidate in candidates]
    assert chances == sorted(chances, reverse=True) and 0.5 < sum(chances) <= 1


def test_decode_on_another_keyboard(client):
    layout = Layout.from_rows(["azertyuiop", "qsdfghjklm", "wxcvbn"], [0, 0, 1])
    gesture = Generator(layout, noise=0.3).gesture("water", np.random.default_rng(0))
    rows = zip(gesture.x, gesture.y, gesture.t, strict=True)
    trace = [{"x": float(x), "y": float(y), "t": float(t)} for x, y, t in rows]
    assert decoded(client, points=trace, layout=layout.to_json())[0]["word"] == "water"


def test_tours_begin_with_a_restart_and_are_reproducible(client):
    body = {"points": points("help", noise=1.5), "steps": 300, "seed": 3}
    first = client.post("/api/tours", json=body).json()
    assert first == client.post("/api/tours", json=body).json()
    assert len(first["steps"]) == 300 and first["steps"][0]["restart"]
    assert {step["word"] for step in first["steps"]} == {word["word"] for word in first["words"]}
    assert first != client.post("/api/tours", json=body | {"seed": 4}).json()


def test_chain_agrees_with_the_library(client):
    matrix = three_state_chain(0.05)
    body = {"matrix": matrix.tolist(), "restart": UNIFORM, "epsilon": 0.2}
    answer = client.post("/api/chain", json=body).json()
    np.testing.assert_allclose(answer["stationary"], stationary(matrix))
    law = restarted_law(matrix, UNIFORM, 0.2)
    np.testing.assert_allclose(answer["stationary_restarted"], law)
    assert answer["gap_restarted"] >= answer["certificate"]["gap"] >= 0.2 * (1 - 1e-9)
    divergences = [point["kl_law_to_restarted"] for point in answer["curve"]]
    assert divergences == sorted(divergences)


def test_chain_in_pieces_has_a_law_only_with_restarts(client):
    body = {"matrix": [[1.0, 0.0], [0.0, 1.0]], "restart": [0.3, 0.7], "epsilon": 0.01}
    answer = client.post("/api/chain", json=body).json()
    assert answer["stationary"] is None and "more than one" in answer["note"]
    np.testing.assert_allclose(answer["stationary_restarted"], [0.3, 0.7])


@pytest.mark.parametrize(
    ("body", "schedule"),
    [
        ({"exits": [1.0, 0.04, 0.0002]}, Schedule.cycle([1, 0.04, 0.0002])),
        ({"epsilon": 0.05}, Schedule.doeblin(0.05)),
        (
            {"matrix": [[0.0, 1.0], [0.1, 0.9]], "restart_stage": 0},
            Schedule([[0, 1], [0.1, 0.9]]),
        ),
    ],
)
def test_certify_agrees_with_the_library(client, body, schedule):
    answer = client.post("/api/certify", json=body).json()
    expected = certify(schedule)
    assert answer["gap"] == pytest.approx(expected.gap, rel=1e-12)
    assert answer["mixing_time"][0] == {"tv": 0.25, "steps": expected.mixing_time(0.25)}


def test_safe_program_with_its_search(client):
    events, job = prove(client, example("cegar2"), file="cegar2.c")
    assert events[0] == "started" and "parsed" in events and "round" in events
    result = job["result"]
    assert result["verdict"] == "SAFE"
    assert [one["line"] for one in result["invariants"]] == [9]
    texts = {file["kind"]: file["text"] for file in result["files"]}
    assert "loop invariant" in texts["acsl"] and "check-sat" in texts["certificate"]
    assert "invariant_set" in texts["witness"]


def test_rounds_tell_of_examples_candidates_and_restarts(client):
    given = {"program": example("growth"), "method": "one-stage", "timeout": SECONDS}
    started = client.post("/api/verify", json=given)
    rounds = [
        json.loads(data) for event, data in follow(client, started.json()["id"]) if event == "round"
    ]
    assert rounds and rounds[-1]["accepted"]
    last = rounds[-1]
    assert last["examples"]["reachable"] > 0 and last["chain_steps"] > 0 and last["restarts"] > 0
    assert [one["line"] for one in last["candidate"]] == [7]
    numbers = [one["round"] for one in rounds]
    assert numbers == sorted(numbers)


def test_unsafe_program_with_its_run(client):
    _, job = prove(client, example("off_by_one"), file="off_by_one.c")
    result = job["result"]
    assert result["verdict"] == "UNSAFE" and result["inputs"][0]["value"] == 5
    assert "assertion" in result["trace"][-1]
    assert {file["kind"] for file in result["files"]} == {"witness", "test"}


def test_malformed_program_is_refused_with_its_place(client):
    answer = client.post("/api/verify", json={"program": "int x;\nint main( {\n}"})
    assert answer.status_code == 422
    assert answer.json()["error"]["line"] == 2


def test_events_can_be_resumed(client):
    started = client.post("/api/verify", json={"program": example("nested")}).json()
    everything = list(follow(client, started["id"]))
    with client.stream(
        "GET", f"/api/verify/{started['id']}/events", headers={"Last-Event-ID": "0"}
    ) as stream:
        again = [line for line in stream.iter_lines() if line.startswith("event: ")]
    assert again == [f"event: {name}" for name, _ in everything[1:]]


def test_examples_are_the_bundled_ones(client):
    found = client.get("/api/examples").json()["examples"]
    assert [one["name"] for one in found] == names()


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/api/decode", {"points": []}, 422, "points needs at least 1 (has 0)"),
        ("/api/decode", {"points": [{"x": 1, "y": 1}]}, 422, "points[0].t is missing"),
        ("/api/decode", {"points": 7}, 422, "points = 7 must be a list"),
        ("/api/decode", [1], 422, "the request must be an object with fields"),
        ("/api/decode", {"points": [{"x": 1e5, "y": 1, "t": 0}]}, 422, "off the keyboard"),
        ("/api/decode", {"points": [{"x": 1e8, "y": 1, "t": 0}]}, 422, "x is 1e+08 at point 0"),
        (
            "/api/decode",
            {"points": [{"x": 1, "y": 1, "t": 5}, {"x": 1, "y": 1, "t": 4}]},
            422,
            "time runs backwards at point 1",
        ),
        (
            "/api/chain",
            {"matrix": [[0.5, 0.4], [0, 1]], "restart": [1, 0], "epsilon": 0.1},
            422,
            "row 0 of the transition matrix sums to 0.9",
        ),
        (
            "/api/chain",
            {"matrix": [[1]], "restart": [1], "epsilon": 0},
            422,
            "epsilon = 0 must be greater",
        ),
        ("/api/certify", {"exits": [1, 0.5], "epsilon": 0.1}, 422, "exactly one"),
        ("/api/verify", {"program": "int main(){}", "method": "magic"}, 422, "must be one of"),
        ("/api/verify", {"program": "int main(){}", "extra": 1}, 422, "extra is not something"),
        ("/api/verify", {"program": ""}, 422, 'program = "" must not be empty'),
        ("/api/verify", {"program": "x", "timeout": 61}, 422, "timeout = 61 must be at most 60"),
        ("/api/verify", {"program": "x", "seed": 1.5}, 422, "seed = 1.5 must be a whole number"),
        ("/api/verify", {"program": "x", "file": "../x"}, 422, 'file = "../x" is not of the form'),
    ],
)
def test_bad_input_is_told_what_is_wrong(client, path, body, status, message):
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]
    assert "Input should be" not in answer.text and "type=" not in answer.text


def test_every_way_to_be_invalid_has_words():
    """No text of the validator's own reaches a client, whatever the request models ask for."""
    from doeblin.serve import _problems, _schemas

    asked = json.dumps([one.model_json_schema() for one in (
        _schemas.DecodeRequest, _schemas.ToursRequest, _schemas.VerifyRequest,
        _schemas.ChainRequest, _schemas.CertifyRequest)])  # fmt: skip
    names = {
        "exclusiveMinimum": "greater_than", "minimum": "greater_than_equal",
        "exclusiveMaximum": "less_than", "maximum": "less_than_equal", "minItems": "too_short",
        "maxItems": "too_long", "minLength": "string_too_short", "maxLength": "string_too_long",
        "pattern": "string_pattern_mismatch", "enum": "literal_error",
        '"type": "string"': "string_type", '"type": "integer"': "int_type",
        '"type": "number"': "float_type", '"type": "array"': "list_type",
        '"additionalProperties": false': "extra_forbidden", '"required"': "missing",
    }  # fmt: skip
    present = {kind for word, kind in names.items() if word in asked}
    assert len(present) > 12 and present <= set(_problems._SAYINGS)


def test_ready_and_limits(client):
    assert client.get("/api/ready").json() == {"ready": True, "waiting_for": []}
    assert client.get("/api/limits").json()["verify_seconds"] == SECONDS
    assert client.get("/api/limits").json()["points"] == 5000


def asked(app: Any, path: str, host: str = "localhost") -> httpx.Response:
    """From an application that no server runs; in a thread, since a browser's loop may be here."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        options = {"base_url": "http://localhost", "verify": False}
        async with httpx.AsyncClient(transport=transport, **options) as client:
            return await client.get(path, headers={"Host": host})

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, ask()).result()


def test_alive_before_it_is_ready():
    """Health and readiness are two things; what is missing is named."""
    from doeblin.serve import create_app

    app = create_app()

    class Starting:
        ready, unavailable, doing, processes, size, waiting = False, None, "compiling", [], 1, 0

    app.state.pools = {"decode": Starting}

    health, ready = (asked(app, path) for path in ("/api/health", "/api/ready"))
    assert health.status_code == 200 and health.json()["pools"]["decode"]["doing"] == "compiling"
    assert ready.status_code == 503 and int(ready.headers["retry-after"]) >= 1
    assert ready.json() == {"ready": False, "waiting_for": ["decode"]}


@pytest.mark.parametrize(
    ("loopback", "host", "status"),
    [
        (True, "localhost", 200),
        (True, "192.168.1.5:8000", 421),
        (False, "192.168.1.5:8000", 200),
        (False, "[fe80::1]:8000", 200),
        (False, "mybox.local:8000", 200),
        (False, "MYBOX.local", 200),
        (False, "evil.example", 421),
        (False, "192.168.1.5.evil.example", 421),
        (False, "", 421),
    ],
)
def test_open_to_the_network_it_still_checks_names(loopback, host, status):
    from doeblin.serve import create_app

    app = create_app(loopback=loopback, names=["mybox.local"])

    assert asked(app, "/api/keyboard", host).status_code == status


def test_open_to_the_network_is_warned_of():
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", "--host", "0.0.0.0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert "open to the network" in process.stderr.readline()
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--host", ""], "host is empty; 127.0.0.1"),
        (["--name", "http://mybox/"], "'http://mybox/' is no name of a machine"),
        (["--name", "mybox:80"], "'mybox:80' is no name"),
        (["--timeout", "1e12"], "at most 999,999,999 seconds, got 1e12"),
        (["--timeout", "0"], "--timeout must be more than 0"),
    ],
)
def test_bad_options_are_refused_before_anything_listens(options, told, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["serve", *options])
    assert stopped.value.code == 3 and told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("certify", {"epsilon": 1e-320}),
        ("certify", {"exits": [1, 1e-308, 1e-320]}),
        ("certify", {"exits": [1, 1e-310, 1e-310]}),
        ("certify", {"exits": [5e-324, 5e-324]}),
        ("certify", {"exits": [1e-320, 1, 1e-320, 1]}),
        ("chain", {"matrix": [[0.5, 0.5]] * 2, "restart": [5e-324, 1], "epsilon": 0.1}),
        ("chain", {"matrix": [[0, 1], [1, 0]], "restart": [1, 0], "epsilon": 5e-324}),
    ],
)
def test_moves_that_are_as_good_as_never_are_no_fault(client, path, body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200 and "nan" not in answer.text.lower()


def test_unknown_things_are_not_found(client):
    for answer in (
        client.get("/api/verify/" + "0" * 32),
        client.delete("/api/verify/" + "0" * 32),
        client.get("/nothing"),
    ):
        assert answer.status_code == 404 and answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/decode", "POST"),
        ("PUT", "/api/decode", "POST"),
        ("HEAD", "/api/keyboard", "GET"),
        ("POST", "/api/verify/" + "0" * 32, "DELETE, GET"),
    ],
)
def test_wrong_method_is_told_the_right_one(client, method, path, allowed):
    answer = client.request(method, path)
    assert answer.status_code == 405 and answer.headers["allow"] == allowed
    if method != "HEAD":
        assert answer.json()["error"]["message"].endswith(f"not take {method}; it takes {allowed}")


@pytest.mark.parametrize(
    ("kind", "body", "status", "message"),
    [
        ("text/plain", b"{}", 415, "Content-Type = text/plain must be application/json"),
        (None, b"{}", 415, "Content-Type is missing, and must be application/json"),
        ("application/json", b"{}", 422, "points is missing"),
        ("application/json", b"[" * 100_000, 400, "the body is nested too deeply"),
        ("application/json", b"\x80", 400, "it is not in UTF-8"),
        ("application/json", b"{", 400, "the body is not JSON: Expecting"),
    ],
)
def test_body_that_cannot_be_read_is_told_why(client, kind, body, status, message):
    headers = {"Content-Type": kind} if kind else {}
    answer = client.post("/api/decode", content=body, headers=headers)
    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]


def test_description_and_its_page_are_served(client):
    description = client.get("/openapi.json").json()
    assert set(description["paths"]["/api/verify/{id}"]) == {"get", "delete"}
    assert "/js/reference.js" in client.get("/api").text


def test_an_answer_shown_by_a_browser_has_our_icon(client):
    icon = client.get("/favicon.ico")
    assert icon.status_code == 200 and icon.headers["content-type"] == "image/svg+xml"


def test_page_keeps_to_itself(client):
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("/", "/js/main.js", "/js/swipe.js", "/css/base.css", "/api"):
        text = client.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text
        assert "innerHTML" not in text and "style=" not in text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "[::"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
    ],
)
def test_other_sites_are_not_answered(client, headers, status):
    answer = client.post("/api/certify", json={"epsilon": 0.5}, headers=headers)
    assert answer.status_code == status and answer.json()["error"]["message"]


def test_own_origin_is_answered(client, server):
    answer = client.post("/api/certify", json={"epsilon": 0.5}, headers={"Origin": server.address})
    assert answer.status_code == 200


def test_verdict_says_what_it_assumes(client):
    """A sum that may overflow: proved by C's integers under an assumption that is told."""
    program = "int main(void) { int x = unknown(); if (x > 0) { int y = x + 1; assert(y > x); } }"
    told = prove(client, program)[1]["result"]
    assert (told["verdict"], told["assumptions"]) == ("SAFE", ["no signed overflow"])
    assert prove(client, program, ints="overflow")[1]["result"]["verdict"] == "UNSAFE"
    assert prove(client, program, ints="math")[1]["result"]["assumptions"] == []
