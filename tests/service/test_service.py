"""Answers over HTTP: every one gets its verdict, or a reason why there is none."""

import json
import os
import re
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import CRASHES, HANGS, Server

from .conftest import PROBLEM

pytestmark = pytest.mark.slow


def ask(source, problem=PROBLEM, **fields):
    return {"source": source, "problem": problem, **fields}


def events(client, grade_id):
    with client.stream("GET", f"/v1/grades/{grade_id}/events") as stream:
        text = stream.read().decode()
    pairs = [block.split("\n") for block in text.strip().split("\n\n") if block[0] != ":"]
    return [(kind.removeprefix("event: "), json.loads(data[6:])) for kind, data in pairs]


def test_one_answer_is_graded_while_one_waits(interviewer, right):
    reply = interviewer.post("/v1/grades?wait=60", json=ask(right, seed=3))

    grade = reply.json()
    assert reply.status_code == 200
    assert (grade["state"], grade["reason"]) == ("done", "verdict")
    assert (grade["report"]["verdict"], grade["report"]["seed"]) == ("accepted", 3)
    assert interviewer.get(f"/v1/grades/{grade['id']}").json() == grade


def test_a_batch_with_a_broken_answer_goes_on(interviewer, right, wrong):
    odd = "x = '\ud800'"
    answers = [ask(right), ask(wrong, "sofmax"), ask(""), ask(odd), ask(wrong, verdict_only=True)]

    body = json.dumps({"answers": answers})
    reply = interviewer.post(
        "/v1/grades", content=body, headers={"Content-Type": "application/json"}
    )
    first, near, empty, strange, last = reply.json()["grades"]
    done = [interviewer.get(f"/v1/grades/{one['id']}?wait=60").json() for one in (first, last)]

    assert reply.status_code == 202
    assert near["state"] == empty["state"] == strange["state"] == "refused"
    assert "not Unicode" in strange["message"]
    assert "did you mean softmax" in near["message"] and "is empty" in empty["message"]
    assert [one["report"]["verdict"] for one in done] == ["accepted", "rejected"]


def test_checks_are_streamed_as_they_are_done(interviewer, candidate, right):
    grade_id = interviewer.post("/v1/grades", json=ask(right)).json()["id"]

    told = events(interviewer, grade_id)
    late = events(interviewer, grade_id)

    kind, grade = told[-1]
    assert kind == "grade"
    checks = [check["id"] for check in grade["report"]["checks"]]
    assert [check["id"] for kind, check in told[:-1]] == checks
    assert late == [("grade", grade)]


def test_a_candidate_sees_what_candidates_may_see(interviewer, candidate, wrong):
    whole = interviewer.post("/v1/grades?wait=60", json=ask(wrong)).json()
    grade_id = candidate.post("/v1/grades", json=ask(wrong)).json()["id"]
    streamed = events(candidate, grade_id)
    shown = candidate.get(f"/v1/grades/{whole['id']}").json()["report"]

    assert whole["report"]["diagnoses"]
    assert [one.keys() for one in shown["diagnoses"]] == [{"cost"}]
    assert "seed" not in shown and "failing_call" not in shown
    assert not any(check.get("message") or check.get("detail") for _, check in streamed[:-1])
    assert candidate.get("/metrics").status_code == 403
    assert 'verdict="rejected"' in interviewer.get("/metrics").text


def test_an_answer_of_which_nothing_was_run_changes_no_sandbox(interviewer, right):
    interviewer.post("/v1/grades?wait=60", json=ask(right))
    before = re.findall(".*sandbox_info{.*", interviewer.get("/metrics").text)

    interviewer.post("/v1/grades?wait=60", json=ask("def f(:\n"))

    assert before[0] in interviewer.get("/metrics").text


def test_what_is_the_judges_fault_is_no_score(start, right):
    server = start("-j", "1", "--queue-timeout", "3")
    with server.client() as client:
        running, waiting, late = (
            client.post("/v1/grades", json=ask(HANGS)).json()["id"] for _ in range(3)
        )
        position = client.get(f"/v1/grades/{late}").json()["position"]
        cancelled = client.delete(f"/v1/grades/{waiting}").json()
        timed_out = client.get(f"/v1/grades/{late}?wait=30").json()
        taken_back = client.delete(f"/v1/grades/{running}").json()
        accepted = client.post("/v1/grades?wait=60", json=ask(right)).json()

    assert position == 2
    assert [one["reason"] for one in (cancelled, timed_out, taken_back)] == [
        "cancelled", "queue_timeout", "cancelled",
    ]  # fmt: skip
    assert all(one["report"] is None for one in (cancelled, timed_out, taken_back))
    assert accepted["report"]["verdict"] == "accepted"


def test_a_process_that_dies_costs_nobody_a_verdict(start, right, wrong):
    server = start()
    with server.client() as client, ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(
            client.post, "/v1/grades?wait=100", json=ask(one)
        ) for one in (right, wrong, CRASHES, right) * 4]  # fmt: skip
        for _ in range(3):
            time.sleep(1.5)
            for process in server.graders()[:1]:
                os.kill(process, signal.SIGKILL)
        grades = [one.result().json() for one in asked]

    assert [one["reason"] for one in grades] == ["verdict"] * 16
    verdicts = [one["report"]["verdict"] for one in grades]
    assert verdicts == ["accepted", "rejected", "crashed", "accepted"] * 4


def test_idle_processes_that_die_cost_nobody_a_verdict(start, right):
    server = start()
    with server.client() as client, ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: client.post("/v1/grades?wait=60", json=ask(right)), range(2)))
        for process in server.graders():
            os.kill(process, signal.SIGKILL)
        grade = client.post("/v1/grades?wait=60", json=ask(right)).json()

    assert grade["reason"] == "verdict"


def test_what_was_acknowledged_survives_the_server(start, right, wrong):
    first = start()
    with first.client() as client:
        batch = {"answers": [ask(right), ask(wrong)] * 5}
        headers = {"Idempotency-Key": "class 7"}
        grades = client.post("/v1/grades", json=batch, headers=headers).json()["grades"]
        client.get(f"/v1/grades/{grades[0]['id']}?wait=60")
    first.stop(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while first.graders() and time.monotonic() < deadline:
        time.sleep(0.1)

    second = start()
    with second.client() as client:
        again = client.post("/v1/grades", json=batch, headers=headers).json()["grades"]
        other = client.post("/v1/grades", json=ask(right), headers=headers)
        done = [client.get(f"/v1/grades/{one['id']}?wait=100").json() for one in grades]

    assert not first.graders()
    assert [one["id"] for one in again] == [one["id"] for one in grades]
    assert other.status_code == 409
    assert [one["report"]["verdict"] for one in done] == ["accepted", "rejected"] * 5


def test_a_server_that_is_told_to_stop_ends_what_it_accepted(start, right):
    server = start()
    with server.client() as client:
        ids = [client.post("/v1/grades", json=ask(right)).json()["id"] for _ in range(6)]

    assert server.stop(signal.SIGTERM) == 0
    with sqlite3.connect(server.folder / "grades.sqlite") as store:
        kept = dict(store.execute("select id, reason from grades").fetchall())
    assert kept == dict.fromkeys(ids, "verdict")


def test_who_waits_when_the_server_stops_is_told(start, right):
    server = start("-j", "1", "--drain", "3")
    with server.client() as client, ThreadPoolExecutor(2) as threads:
        grade_id = client.post("/v1/grades", json=ask(HANGS)).json()["id"]
        waiting = threads.submit(client.get, f"/v1/grades/{grade_id}?wait=100")
        streaming = threads.submit(events, client, grade_id)
        time.sleep(2)
        code = server.stop(signal.SIGTERM)

    assert code == 0
    for grade in (waiting.result().json(), streaming.result()[-1][1]):
        assert grade["state"] == "waiting" and "is stopping" in grade["message"]
    assert "Traceback" not in server.text


def test_a_server_that_has_no_time_keeps_what_it_accepted(start, right):
    server = start("--drain", "0")
    with server.client() as client:
        ids = [client.post("/v1/grades", json=ask(one)).json()["id"] for one in (HANGS, right)]

    assert server.stop(signal.SIGTERM) == 0
    with sqlite3.connect(server.folder / "grades.sqlite") as store:
        kept = dict(store.execute("select id, reason from grades").fetchall())
    assert kept == dict.fromkeys(ids)


def test_a_full_queue_says_when_to_come_back(start):
    server = start("--queue", "3", "-j", "1")
    with server.client() as client:
        replies = [client.post("/v1/grades", json=ask(HANGS)) for _ in range(4)]

        many = client.post("/v1/grades", json={"answers": [ask(HANGS)] * 4})

    assert many.status_code == 422 and "room for 3" in many.json()["detail"]
    assert [one.status_code for one in replies] == [202, 202, 202, 429]
    assert int(replies[-1].headers["Retry-After"]) >= 1


def test_problems_and_statements_are_served(candidate):
    problems = candidate.get("/v1/problems").json()
    statement = candidate.get("/v1/problems/sdpa?lang=zh").json()

    assert {"id", "title", "title_zh", "track", "level"} <= problems[0].keys()
    assert statement["lang"] == "zh" and statement["markdown"]
    assert candidate.get("/v1/problems/sdpa?lang=fr").status_code == 422


def test_who_opens_the_address_is_led_to_the_page(candidate):
    assert candidate.get("/", follow_redirects=False).headers["location"] == "/docs"


@pytest.mark.parametrize("kind", [None, "text/plain"])
def test_a_body_that_is_not_said_to_be_json_is_told_so(candidate, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    reply = candidate.post("/v1/grades", content=b'{"problem": "sdpa"}', headers=headers)

    assert reply.status_code == 415
    assert "send JSON, with the header Content-Type: application/json" in reply.json()["detail"]


def test_a_page_tells_what_can_be_asked_without_a_program_from_elsewhere(candidate):
    page = candidate.get("/docs").text

    assert "/v1/grades" in page and "Authorization: Bearer" in page
    assert "<script" not in page and "https://" not in page
    assert candidate.get("/openapi.json").json()["info"]["title"] == "mha-judge"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--host", "0.0.0.0"), 2, "pass --token-file"),
        (("--token-file", "missing"), 2, "check the path"),
        (("--token-file", "open"), 2, "chmod 600"),
        (("--token-file", "short"), 2, "line 1: write a role"),
        (("--token-file", "empty"), 2, "there is no token"),
        (("--certificate", "short"), 2, "belong together"),
        (("--certificate", "short", "--key", "short"), 2, "cannot be used as certificate"),
        (("--store", "short"), 2, "cannot be used as a store"),
        (("--sandbox", "container", "--image", "none:here"), 5, "none:here|does not answer"),
        (("--host", "203.0.113.1", "--token-file", "good"), 2, "cannot be listened on"),
    ],
)
def test_what_cannot_be_served_is_told_at_once(tmp_path, options, code, words):
    for name, text in (
        ("open", "interviewer 0123456789abcdef"), ("short", "interviewer 0123"), ("empty", "#"),
        ("good", "interviewer 0123456789abcdef"),
    ):  # fmt: skip
        (tmp_path / name).touch(mode=0o644 if name == "open" else 0o600)
        (tmp_path / name).write_text(f"{text}\n", "utf-8")

    server = Server(tmp_path, *options, expect_start=False)

    assert server.process.wait(60) == code
    assert any(one in server.text for one in words.split("|"))
    assert "Traceback" not in server.text


def test_a_port_in_use_is_told(server, tmp_path):
    port = server.url.rpartition(":")[2]

    second = Server(tmp_path, "--port", port, "--store", "other", expect_start=False)

    assert second.process.wait(60) == 2
    assert "pass another --port" in second.text


def test_a_store_in_use_is_told(server):
    second = Server(server.folder, expect_start=False)

    assert second.process.wait(60) == 2
    assert "is used by another process" in second.text
