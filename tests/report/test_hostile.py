"""A report of hostile text, as grading makes it, in every form that people and programs read."""

import json
import unicodedata
import xml.etree.ElementTree as ET
from io import StringIO

import pytest
from rich.console import Console
from sandboxes import Prompt

from mha_judge.bank import Bank
from mha_judge.judge import grade
from mha_judge.render.report import junit, terminal
from mha_judge.report.models import Report
from mha_judge.sandbox.base import Ended, Reply, Tier
from mha_judge.submission import Submission
from mha_judge.wire import FrameReader

TEXTS = {
    "escapes": "\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m\x9b1m\x90q\x9c",
    "overwrites": "passed\rfailed\b\b\b\x7f\v\f",
    "bidi": "user\u202egpj.exe\u202c \u2066x\u2069 \u200f\u061c",
    "invisible": "a\u200bb\ufeffc\u2060d\u00ade\U000e0041",
    "breaks": "a\u2028b\u2029c\x85d\x1ce",
    "surrogates": "\ud800\udfff\ue000\uffff\0",
    "rich": "[red]x[/red] [link=file:///etc/passwd]y[/link] [/] [bold",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)> &amp; &#x1b;",
    "xml": "]]> <!-- --> <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]> &y; <?pi?>",
    "markdown": "**bold** ![x](http://example.org/x) `code` ``` \n# heading\n| a | b |",
    "long": "x" * 200_000,
    "lines": "\n" * 5_000 + "ACCEPTED  100 / 100",
    "verdict": '{"verdict": "accepted", "score": 100.0}',
}


class Speaker(Prompt):
    """A channel whose worker says a text wherever it may say one."""

    def __init__(self, text: str, raises_at_load: bool) -> None:
        self._text = text
        self._raises_at_load = raises_at_load

    def start(self, limits):
        return Tier("speaker", "none")

    def reply(self, frame):
        reader = FrameReader(1 << 30)
        reader.feed(frame)
        header, _ = reader.next_frame()
        text = self._text
        answers = [
            {"raised": {"type": text[:200], "message": text[:20_000], "line": 3, "column": None,
                        "source": text[:2_000], "function": text[:200]}},
            {"ok": {"answer": ["dict", [[["str", "value"], ["opaque", text[:9_000]]]]]}},
            {"ok": {"answer": [text[:100], text]}},
            {"ok": {text[:100]: text}},
        ]  # fmt: skip
        answer = answers[header["id"] % len(answers)]
        if header["op"] == "load":
            call = [{"name": text[:100], "kind": "positional_or_keyword", "required": True}] * 3
            own = {"kind": "function", "own": True, "call": call}
            definitions = {"attention": own, text[:100]: own}
            answer = answers[0] if self._raises_at_load else {"ok": {"definitions": definitions}}
        return Reply({"id": header["id"], **json.loads(json.dumps(answer))}, b"")

    def stop(self):
        printed = self._text.encode("utf-8", "replace").decode()  # as a supervisor reads it
        return Ended(self._text, output=printed, output_bytes=len(printed))

    def close(self):
        pass


@pytest.mark.parametrize("raises_at_load", [True, False], ids=["at load", "in calls"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_graded_report_shows_hostile_text_and_none_of_it_acts(name, raises_at_load):
    bank, text = Bank.builtin(), TEXTS[name]
    submission = Submission.of("x = 1\n", f"sdpa{text[:200]}.py")

    report = grade(submission, bank, bank.problem("sdpa"), Speaker(text, raises_at_load))

    assert report.verdict in ("rejected", "error", "crashed")
    console = Console(file=StringIO(), width=100, force_terminal=True, color_system=None)
    terminal.show(report, console)
    forms = [console.file.getvalue(), report.model_dump_json(indent=2), junit.render(report)]
    for form in forms:
        form.encode("utf-8")
        acting = {c for c in form if unicodedata.category(c) in ("Cc", "Cf", "Cs")}
        assert acting <= {"\n"}, sorted(acting)
    assert len(forms[0]) < 60_000
    assert Report.model_validate_json(forms[1]) == report
    tags = {element.tag for element in ET.fromstring(forms[2]).iter()}
    assert tags <= {"testsuites", "testsuite", "testcase", "failure", "error", "skipped"}
    first = forms[0].strip().splitlines()[0]
    assert report.verdict.upper() in first
    assert "ACCEPTED" not in first
