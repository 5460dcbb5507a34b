"""What strangers try on the port itself."""

import contextlib
import json
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from serving import CANDIDATE

pytestmark = pytest.mark.slow
ASK = {"source": "x = 1", "problem": "softmax"}


def place(server):
    parts = urlsplit(server.url)
    return parts.hostname, parts.port


def still_answers(client):
    return client.get("/v1/problems").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", f"Basic {CANDIDATE}", CANDIDATE, f"Bearer {CANDIDATE}x",
     "Bearer \u00ff"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/problems", "/metrics", "/v1/grades/x"])
def test_without_a_token_nothing_is_told(server, authorization, path):
    headers = {} if authorization is None else {"Authorization": authorization.encode("latin-1")}
    with server.client() as client:
        reply = client.get(path, headers=headers)
        asked = client.post("/v1/grades", json=ASK, headers=headers)

    assert (reply.status_code, asked.status_code) == (401, 401)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "attacker.example:8750"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
def test_other_names_and_pages_of_other_sites_are_refused(candidate, headers):
    assert candidate.post("/v1/grades", json=ASK, headers=headers).status_code in (400, 403, 421)
    assert still_answers(candidate)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(server):
    with socket.create_connection(place(server)) as stream:
        stream.sendall(
            b"POST /v1/grades HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
            + CANDIDATE.encode() + b"\r\nContent-Length: 99999999999\r\n\r\n"
        )  # fmt: skip
        assert b" 413 " in stream.recv(100)


def test_a_chunked_body_that_is_too_large_is_refused(candidate):
    def endless():
        for _ in range(40):
            yield b" " * 2**19

    with contextlib.suppress(httpx.TransportError):  # it may be closed while it is still sent
        assert candidate.post("/v1/grades", content=endless()).status_code == 413
    assert still_answers(candidate)


@pytest.mark.parametrize("depth", [1_000, 1_000_000])
def test_deeply_nested_json_is_refused(candidate, depth):
    body = b'{"source":' + b"[" * depth + b"]" * depth + b"}"
    reply = candidate.post("/v1/grades", content=body, headers={"Content-Type": "application/json"})

    assert reply.status_code in (400, 422)
    assert len(reply.content) < 2_000
    assert still_answers(candidate)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"{", b'{"source": 1}', b'{"source": "x", "seed": -1}',
        b'{"source": "x", "seed": 9007199254740992}', b'{"answers": []}', b"\xff\xfe",
        b'{"source": "\\ud800", "problem": "softmax"}',
        json.dumps({"answers": [ASK] * 201}).encode(),
        json.dumps({**ASK, "surplus": 1}).encode(),
        json.dumps({**ASK, "problem": "../../etc"}).encode(),
        json.dumps({**ASK, "problem": "a" * 10_000}).encode(),
        json.dumps({"source": "a" * 300_000, "problem": "softmax"}).encode(),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_in_a_sentence(candidate, body):
    reply = candidate.post("/v1/grades", content=body, headers={"Content-Type": "application/json"})

    assert reply.status_code in (400, 422)
    assert isinstance(reply.json()["detail"], str)
    assert len(reply.content) < 3_000


def test_only_the_field_that_does_not_belong_is_complained_about(candidate):
    one = candidate.post("/v1/grades", json={**ASK, "surplus": 1})
    many = candidate.post("/v1/grades", json={"answers": [ASK, {**ASK, "seed": -1}]})

    assert one.json()["detail"] == "body.surplus: Extra inputs are not permitted"
    assert many.json()["detail"].startswith("body.answers.1.seed: ")


def test_thousands_of_fields_are_refused(candidate):
    body = json.dumps({f"k{number}": 0 for number in range(100_000)})
    reply = candidate.post("/v1/grades", content=body, headers={"Content-Type": "application/json"})

    assert reply.status_code == 422 and "too many fields" in reply.json()["detail"]


@pytest.mark.parametrize(
    "path",
    ["/v1/grades/..%2F..%2Fetc%2Fpasswd", "/v1/grades/%00", "/v1/problems/..%2F..%2Freference",
     "/v1/problems/%2e%2e", "/v1/grades/' or 1=1 --", "/static/../../etc/passwd"],
)  # fmt: skip
def test_ids_lead_nowhere(candidate, path):
    reply = candidate.get(path)

    assert reply.status_code in (404, 422)
    assert "root:" not in reply.text


def test_markup_and_escapes_of_an_answer_come_back_as_text(interviewer):
    source = "raise ValueError('\\x1b]0;x\\x07<script>alert(1)</script>')\n"
    reply = interviewer.post("/v1/grades?wait=60", json={**ASK, "source": source})
    page = interviewer.get("/v1/problems/<script>alert(1)<%2Fscript>")

    assert {one.headers["content-type"].split(";")[0] for one in (reply, page)} == {
        "application/json"
    }
    told = reply.json()["report"]["load_problem"]["message"]
    assert "<script>" in told and "\\u{1b}" in told and "\x1b" not in told


def test_a_path_as_a_source_is_not_read(interviewer):
    reply = interviewer.post("/v1/grades?wait=60", json={**ASK, "source": "/etc/passwd"})

    assert reply.json()["report"]["verdict"] == "error"
    assert "root:" not in reply.text


def test_connections_that_say_nothing_or_too_little_are_closed(server, candidate):
    head = b"POST /v1/grades HTTP/1.1\r\nHost: localhost\r\n"
    full = head + b"Authorization: Bearer " + CANDIDATE.encode() + b"\r\nContent-Length: 9\r\n\r\n"
    streams = [socket.create_connection(place(server)) for _ in range(60)]
    began = time.monotonic()
    for number, stream in enumerate(streams):
        stream.settimeout(40)
        stream.sendall([b"", head, full][number % 3])
    while time.monotonic() - began < 12:  # letters that come one by one win no time
        time.sleep(1)
        for stream in streams[1::3]:
            try:
                stream.sendall(b"X")
            except OSError:
                break
    assert still_answers(candidate)
    for number, stream in enumerate(streams):
        try:
            told = stream.recv(1_000)
        except ConnectionError:
            told = b""
        assert told == b"" if number % 3 < 2 else b" 408 " in told
        stream.close()


def test_ten_thousand_connections_leave_room_for_others(server, candidate):
    streams = []
    for number in range(10_000):
        with contextlib.suppress(OSError):
            streams.append(socket.create_connection(place(server), timeout=5))
        if number % 200 == 199:  # no more at a time than this process may have open
            for stream in streams:
                stream.close()
            streams.clear()
    deadline = time.monotonic() + 10  # until the server has seen that they have gone
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            assert still_answers(candidate)
            return

    pytest.fail("it answers nobody any more")


def test_more_connections_than_there_is_room_for_are_closed(server):
    streams = [socket.create_connection(place(server), timeout=5) for _ in range(600)]
    closed = 0
    for stream in streams[520:]:
        try:
            closed += stream.recv(1) == b""
        except ConnectionError:
            closed += 1
        except TimeoutError:
            pass
    for stream in streams:
        stream.close()

    assert closed >= 70
    time.sleep(1)
    with server.client(CANDIDATE) as client:
        assert still_answers(client)


def test_a_key_of_one_token_is_nothing_to_another(candidate, interviewer):
    headers = {"Idempotency-Key": "mine"}
    mine = candidate.post("/v1/grades", json=ASK, headers=headers).json()["id"]

    assert interviewer.post("/v1/grades", json=ASK, headers=headers).json()["id"] != mine
    assert candidate.post("/v1/grades", json=ASK, headers=headers).json()["id"] == mine


def test_a_request_that_is_played_again_is_graded_once(interviewer):
    headers = {"Idempotency-Key": "once"}
    replies = [
        interviewer.post("/v1/grades?wait=60", json=ASK, headers=headers).json() for _ in range(3)
    ]

    assert replies[0] == replies[1] == replies[2]
