"""`vf-eval mha-judge-attention`, with a server for a model that says what it is told."""

import importlib.util
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("verifiers") is None,
        reason="needs verifiers: pip install 'mha-judge[verifiers]'",
    ),
]


@pytest.fixture
def model(right, wrong, hostile):
    """Return the address of a model that says these, in turn, to each problem."""
    asked = {}

    class Model(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            prompt = json.loads(self.rfile.read(length))["messages"][-1]["content"]
            script = asked.setdefault(prompt, iter([right, wrong, hostile, "I cannot."]))
            message = {"role": "assistant", "content": next(script)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            said = json.dumps(
                {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted",
                 "choices": [choice]}
            ).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def evaluate(folder, *options):
    """Run the command in a folder."""
    home = Path(__file__).parent
    path = os.pathsep.join([str(home), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [
            Path(sys.executable).with_name("vf-eval"), "mha-judge-attention",
            "--no-push", "--no-rich", "-o", folder, *options,
        ],
        env={**os.environ, "PYTHONPATH": path, "HOME": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip


def test_a_score_is_the_reward_and_without_a_verdict_there_is_none(
    tmp_path, bank, model, right, wrong, hostile
):
    done = evaluate(
        tmp_path, "--env.agent.harness.id", "one-turn", "-m", "scripted",
        "--client.base-url", model, "--env.taskset.task.bank", str(bank),
        "--env.taskset.task.sandbox", "jail", "-r", "4",
    )  # fmt: skip
    [written] = tmp_path.glob("*/traces.jsonl")
    traces = [json.loads(line)["traces"][0] for line in written.read_text("utf-8").splitlines()]
    said = {
        (trace["task"]["data"]["id"], trace["nodes"][-1]["message"]["content"]): trace
        for trace in traces
    }
    rewards = {key: trace["rewards"]["judged"] for key, trace in said.items()}

    assert done.returncode == 0, done.stderr
    assert len(traces) == 8
    assert [
        (rewards["softmax", one]["score"], said["softmax", one]["metrics"]["accepted"])
        for one in (right, wrong, hostile, "I cannot.")
    ] == [(1, 1), (0.85, 0), (0, 0), (0, 0)]
    told = said["softmax", wrong]["info"]["mha_judge"]
    assert [one["id"] for one in told["mistakes"]] == ["no-max-subtraction"]
    undecided = said["broken", right]
    assert (undecided["ok"], rewards["broken", right]) == (False, None)
    assert "BankError" in undecided["errors"][-1]["message"]


def test_a_model_has_no_tools_and_no_sandbox_unless_told(tmp_path):
    done = evaluate(
        tmp_path, "--dry-run", "--env.taskset.problems", '["gqa"]', "--env.taskset.language", "zh"
    )
    [config] = tmp_path.rglob("eval.json")
    env = json.loads(config.read_text("utf-8"))["env"]

    assert done.returncode == 0, done.stderr
    assert (env["taskset"]["problems"], env["taskset"]["language"]) == (["gqa"], "zh")
    assert env["agent"]["harness"]["id"] == "null"
    assert env["agent"]["runtime"]["type"] == "subprocess"
