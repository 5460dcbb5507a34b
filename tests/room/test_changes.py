"""Change sets do to a text here what they do in a browser."""

import json
import random
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha_judge.errors import UsageError
from mha_judge.room.changes import MAX_PARTS, MAX_UNITS, Text

ALPHABET = "ab \t注意é😀\n"


def units(text):
    """Return the units of a text, each as a character."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def as_text(parts):
    joined = "".join(parts).encode("utf-16-le", "surrogatepass")
    return joined.decode("utf-16-le", "surrogatepass")


STRETCHES = st.lists(st.tuples(st.integers(0, 9), st.none() | st.text(ALPHABET, max_size=5)))


@given(st.text(ALPHABET, max_size=30), STRETCHES)
def test_a_change_replaces_stretches_of_units(text, stretches):
    left, parts, expected = units(text), [], []
    for size, new in [*stretches, (len(left), None)]:
        stretch, left = left[:size], left[size:]
        if not stretch and not new:
            continue  # editors send no part that does nothing
        if new is None:
            parts.append(len(stretch))
            expected += stretch
        else:
            parts.append([len(stretch), *new.split("\n")])
            expected += units(new)
    changed = Text(text)
    changed.change(parts)

    assert units(str(changed)) == units(as_text(expected))
    assert len(changed) == len(expected)


def test_a_cut_within_a_character_leaves_halves_that_join_again():
    text = Text("😀")
    text.change([1, [0, "x"], 1])

    assert text.as_source == "\ufffdx\ufffd"
    text.change([1, [1], 1])
    assert str(text) == "😀"


@pytest.mark.parametrize(
    "parts",
    [
        None, 3, {}, "ab", [2], [4], [-1, 4], [3.0], [True, 2], ["3"], [[]], [[3, 4]], [[3], None],
        [[3, "a\nb"]], [[3, "a\r"]], [[1], [1]], [10**30], [[10**30]],
        [0] * (MAX_PARTS + 1), [3, [0, "x" * MAX_UNITS]], [3, 0], [[0], 3], [[0, ""], 3],
    ],
)  # fmt: skip
def test_what_is_no_change_of_this_text_is_refused_and_changes_nothing(parts):
    text = Text("abc")

    with pytest.raises(UsageError):
        text.change(parts)
    assert str(text) == "abc"


def test_a_text_may_be_as_long_as_a_file():
    text = Text()
    text.change([[0, "x" * MAX_UNITS]])

    assert len(text) == MAX_UNITS


PEER = """
import { ChangeSet, Text } from "@codemirror/state";
const cases = JSON.parse(await new Response(process.stdin).text());
const done = cases.map(({ text, edits }) => {
  let doc = Text.of(text.split("\\n")), sets = [];
  for (const edit of edits) {
    const [from, to] = edit.slice(0, 2).map((at) => at % (doc.length + 1)).sort((a, b) => a - b);
    const set = ChangeSet.of([{ from, to, insert: edit[2] }], doc.length);
    sets.push(set.toJSON());
    doc = set.apply(doc);
  }
  return { sets, text: doc.toString() };
});
process.stdout.write(JSON.stringify(done));
"""


@pytest.mark.slow
@pytest.mark.xdist_group("npm")
def test_it_agrees_with_the_editor_itself(web):
    draw = random.Random()
    seed = draw.randrange(2**32)
    draw.seed(seed)

    def some(most):
        return "".join(draw.choices("ab\n\r注😀\ud83d\ude00", k=draw.randint(0, most)))

    cases = [
        {
            "text": some(40).replace("\r", ""),
            "edits": [[draw.randrange(99), draw.randrange(99), some(6)] for _ in range(20)],
        }
        for _ in range(300)
    ]
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", PEER],
        input=json.dumps(cases), capture_output=True, text=True, cwd=web, check=True, timeout=120,
    )  # fmt: skip
    for case, peer in zip(cases, json.loads(ran.stdout), strict=True):
        text = Text(case["text"])
        for parts in peer["sets"]:
            text.change(parts)
        assert units(str(text)) == units(peer["text"]), seed
