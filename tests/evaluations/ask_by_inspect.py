"""Ask a scripted model by Inspect, as a process of its own, and print the log as JSON.

It reads the arguments of the task and, by problem, what the model says in each epoch.
"""

import json
import sys

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

asked = json.load(sys.stdin)
scripts = {problem: iter(said) for problem, said in asked["completions"].items()}


def say(messages, *_):
    [problem] = (one for one in scripts if f"# problem: {one}\n" in messages[-1].text)
    output = ModelOutput.from_content("mockllm/model", next(scripts[problem]))
    output.usage = ModelUsage()  # else it is counted, with tables from the network
    return output


[log] = evaluate(
    "mha_judge/attention",
    model=get_model("mockllm/model", custom_outputs=say),
    task_args=asked["arguments"],
    epochs=asked["epochs"],
    log_dir=asked["logs"],
    display="none",
)
sys.stdout.write(log.model_dump_json())
