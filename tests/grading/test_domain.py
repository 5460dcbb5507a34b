"""An answer that passes every check, and is wrong in one corner of the domain, is told which."""

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mha_judge.bank import Bank
from mha_judge.grading.checks.corners.asking import Asking, _require_gradients, _require_right
from mha_judge.grading.checks.corners.loud import require_unmoved
from mha_judge.grading.expecting.expected import Expected
from mha_judge.grading.failures import CheckFailure
from mha_judge.judge import grade
from mha_judge.sandbox import SandboxOptions
from mha_judge.submission import Submission

pytestmark = pytest.mark.slow

BANK = Bank.builtin()
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
SDPA = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("sizes do not fit")
    {first}
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = {masked}
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    {last}
    return output, weights
"""
RIGHT = {
    "first": "pass",
    "masked": 'scores.masked_fill(mask == 0, float("-inf"))',
    "last": "pass",
}
SPLIT = """
def split_heads(x, num_heads):
    {first}
    return x.reshape(x.shape[0], -1, num_heads, x.shape[-1] // num_heads).transpose(1, 2)

def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
"""


@pytest.fixture(scope="module")
def channel():
    with closing(SandboxOptions("jail").open()) as opened:
        yield opened


@pytest.fixture
def told(channel):
    """Return a function that gives the claims that an answer fails, with their messages."""

    def ask(problem_id, source, seed=None):
        submission = Submission.of(source, "answer.py")
        problem = BANK.problem(problem_id)
        report = grade(submission, BANK, problem, channel, seed=seed)
        return {c.id: c.message for c in report.checks if c.outcome.is_bad and not c.advisory}

    return ask


def test_a_right_answer_fails_nothing(told):
    assert told("sdpa", SDPA.format(**RIGHT)) == {}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("change", "claim", "where"),
    [
        (
            {"masked": "scores + torch.where(mask == 0, -1e5, 0.0).to(scores.dtype)"},
            "scores-of-any-size",
            " score",
        ),
        (
            {"masked": "scores.masked_fill(mask == 0, -1e4)"},
            "scores-of-any-size",
            " score",
        ),
        (
            {
                "masked": "scores.masked_fill((mask.int() if mask.dtype is torch.bool"
                " else mask * 200) <= 0, -torch.inf)",
            },
            "masks-of-any-dtype",
            "where a mask is int8",
        ),
        (
            {"first": "mask = mask if mask is None or q.shape[-2] < 250 else mask[..., :1, :]"},
            "any-length",
            "where the first length alone is long",
        ),
        ({"first": "v = v[..., :1024, :]; k = k[..., :1024, :]"}, "any-length", "is long"),
        (
            {
                "masked": "scores.masked_fill(mask == 0, -65504.0"
                " if q.dtype is torch.bfloat16 else -torch.inf)"
            },
            "scores-of-any-size",
            "in bfloat16",
        ),
        (
            {"first": "v = v.clamp(-1000, 1000)"},
            "scores-of-any-size",
            "where values are large",
        ),
        (
            {"first": "v = torch.where(v.abs() < 1e-6, 0.0, v)"},
            "scores-of-any-size",
            "where values are small",
        ),
        (
            {"last": "output = output if q.dim() > 2 else output.detach()"},
            "gradients-of-any-shape",
            "in its gradients",
        ),
        (
            {"last": "output = output if q.shape[-2] < 90 else output.detach()"},
            "gradients-of-any-shape",
            "in its gradients, where the first length alone is long",
        ),
        (
            {"first": "mask = None if q is k else mask"},
            "any-memory-layout",
            "where two inputs are one object",
        ),
        (
            {"first": "k = k if torch.is_grad_enabled() or k.shape[-2] < 250 else k.roll(1, -2)"},
            "any-gradient-mode",
            "under torch.",
        ),
        (
            {"first": "mask = mask if mask is None or len(q) < 60 or mask.dim() < 4 else mask[:1]"},
            "any-length",
            "in a batch of seventy or so",
        ),
        (
            {
                "first": "wide = q.shape[-1] >= 7 * len('nine long'); "
                "mask = mask.flip(-1) if wide and mask is not None else mask"
            },
            "any-length",
            "with wide heads",
        ),
        (
            {
                "last": "equal = (q.max() == q.min()) & (v.max() == v.min()) & q.any(); "
                "output = output + equal.to(q.dtype)"
            },
            "scores-of-any-size",
            "where all numbers are equal",
        ),
        (
            {"last": "output = output + (not bool(q.any()))"},
            "scores-of-any-size",
            "where all numbers are zero",
        ),
    ],
)
def test_an_answer_that_is_wrong_in_a_corner_is_told_which(told, change, claim, where, seed):
    failed = told("sdpa", SDPA.format(**{**RIGHT, **change}), seed)

    assert [*failed] == [claim]
    assert failed[claim].startswith("right otherwise, but wrong")
    assert where in failed[claim]


@pytest.mark.parametrize(
    ("change", "claim", "where"),
    [
        (
            {
                "first": "v = v.flip(-2) if q.data_ptr() == k.data_ptr()"
                " and q.stride() != k.stride() else v"
            },
            "any-memory-layout",
            "on inputs that begin at one place in memory",
        ),
        (
            {"first": "q = q.clamp(-50, 50) if bool((q[..., 0, :].abs() < 20).all()) else q"},
            "scores-of-any-size",
            "where the scores of the last position alone are large",
        ),
        (
            {
                "first": "q = q.clamp(-50, 50)"
                " if q.dim() > 2 and bool((q[0].abs() < 20).all()) else q"
            },
            "scores-of-any-size",
            "where the scores of the last item alone are large",
        ),
        (
            {
                "last": "ring = scaled_dot_product_attention.__dict__.setdefault((output.shape,"
                " output.dtype), [])"
                "; ring.append(ring.pop(0).copy_(output) if len(ring) > 12 else output)"
                "; output = output if output.requires_grad else ring[-1]"
            },
            "any-history",
            "once many other calls have followed",
        ),
        (
            {
                "last": "kept = scaled_dot_product_attention.__dict__; takes = output.numel()"
                "; room = kept.setdefault(output.dtype, output.new_empty(2**20))[:takes]"
                "; is_long = len(output.shape) > 1 and output.shape[-2] > 1000"
                " and takes < 2**20 and not torch.is_grad_enabled()"
                "; output = room.view(output.shape).copy_(output) if is_long else output"
            },
            "any-history",
            "writes to a result that it has returned",
        ),
        (
            {
                "first": "back = not (q.requires_grad or 0 in q.stride()) and k.shape[-2] > 600"
                "; q = q.mul_(2).div_(2) if back else q"
            },
            "any-history",
            "in what it leaves of its inputs, where the last length alone is long",
        ),
        (
            {
                "first": "sums = *(round(float(one.sum()), 2) for one in (q, k, v)), q.dtype",
                "last": "kept = scaled_dot_product_attention.__dict__; is_new = mask is not None"
                " or output.requires_grad; output = output if is_new else"
                " kept.setdefault((sums, output.shape), output.clone()).clone()",
            },
            "any-history",
            "after a call in which the same tensors held the same numbers in another order",
        ),
        (
            {
                "first": "told = bytes(q.detach().float().numpy().tobytes())",
                "last": "kept = scaled_dot_product_attention.__dict__"
                "; shape = kept.setdefault(told, output.shape)"
                "; output = output.reshape(shape) if shape.numel() == output.numel() else output",
            },
            "any-history",
            "after a call with the same numbers in another shape",
        ),
        (
            {
                "first": "kept = scaled_dot_product_attention.__dict__"
                "; key = q.shape[-2] * k.shape[-2], q.shape[:-2], q.shape[-1]"
                "; length = kept.setdefault(key, q.shape[-2])"
                "; v = v if q.dim() < 4 or length == q.shape[-2] else v.flip(-2)",
            },
            "any-history",
            "after a call with other lengths, of the same product",
        ),
        (
            {"last": "output = output + ((q.sum(-1) == 0) & q.any(-1)).all().to(q.dtype)"},
            "scores-of-any-size",
            "where the numbers of each row sum to zero",
        ),
        (
            {
                "first": "tops = (q @ k.mT).amax(-2).diff(dim=-1)",
                "last": "output = output + bool(tops.numel() > 40 and (tops > 0).all())",
            },
            "scores-of-any-size",
            "where scores rise from key to key",
        ),
        (
            {
                "first": "known = mask is None or not mask.is_floating_point()",
                "masked": "scores.masked_fill(mask == 0 if known"
                " else mask.float().view(torch.int32) == 0, -torch.inf)",
            },
            "masks-of-any-dtype",
            "where a mask is",
        ),
        (
            {
                "first": "count = 1 if mask is None else mask.sum(-1, True, dtype=mask.dtype)",
                "masked": "scores.masked_fill((mask == 0) | (count == 0), -torch.inf)"
                " if mask.dtype in (torch.uint8, torch.int8)"
                " else scores.masked_fill(mask == 0, -torch.inf)",
            },
            "any-length",
            "one key is blocked, in uint8",
        ),
        (
            {
                "first": "places = torch.arange(k.shape[-2])",
                "masked": "scores.masked_fill(mask == 0 if mask.dim() < 3"
                " or (mask != 0).sum(-1).diff(dim=0).any()"
                " or ((mask != 0) * places).sum(-1).diff(dim=0).any()"
                " else (mask == 0)[:1].expand_as(mask), -torch.inf)",
            },
            "masks-of-any-dtype",
            "where the mask of one row or item is unlike the others",
        ),
    ],
)
def test_what_rows_by_themselves_ask_for_is_told(told, change, claim, where):
    failed = told("sdpa", SDPA.format(**{**RIGHT, **change}), 1)

    assert [*failed] == [claim]
    assert failed[claim].startswith("right otherwise, but wrong")
    assert where in failed[claim]


@pytest.mark.parametrize(
    ("problem", "old", "new", "claim", "where"),
    [
        (
            "self-attention",
            "dropout: float = 0.0",
            "dropout: float = 0.1",
            "any-gradient-mode",
            "in training, with next to nothing to drop",
        ),
        (
            "encoder-block",
            "nn.LayerNorm(embed_dim)\n        self.ffn1",
            "nn.LayerNorm(embed_dim, eps=0.0)\n        self.ffn1",
            "",  # two axes meet: it may be about either
            "where every bias is zero",
        ),
        (
            "encoder-block",
            "self.ffn2(hidden)",
            "self.ffn2(torch.where(torch.arange(hidden.shape[-1]) < 1024, hidden, 0))",
            "any-length",
            "where a width is a thousand or so",
        ),
        (
            "dual-attention",  # whose queries are never more than its keys
            "    content = (q",
            "    k = k.roll(1, -2) if 8 * 8 < length < 9 * 9 else k\n    content = (q",
            "any-length",
            "at tens of positions",
        ),
    ],
)
def test_a_reference_that_is_wrong_in_a_corner_is_rejected(told, problem, old, new, claim, where):
    source = BANK.reference(problem).read_text("utf-8")
    assert source.count(old) == 1

    failed = told(problem, source.replace(old, new), 1)

    assert failed
    assert not claim or [*failed] == [claim]
    assert all(where in message for message in failed.values())


@pytest.mark.parametrize("seed", [1, 10, 12])
def test_a_size_that_the_source_speaks_of_is_tried(told, seed):
    change = {"last": "output = output if q.shape[-1] != 77 else 2 * output"}

    failed = told("sdpa", SDPA.format(**{**RIGHT, **change}), seed)

    assert [*failed] == ["any-length"]
    assert "D = 77" in failed["any-length"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sizes_that_multiply_out_over_all_positions_must_raise_too(told, seed):
    failed = told("split-merge-heads", SPLIT.format(first="pass"), seed)

    assert [*failed] == ["sizes-that-belong-together"]
    assert failed["sizes-that-belong-together"].startswith("accepts E = ")
    check = "assert x.shape[-1] % num_heads == 0"
    assert told("split-merge-heads", SPLIT.format(first=check), seed) == {}


@pytest.mark.parametrize(
    ("problem", "name", "seed"),
    [
        ("mha-numpy", "right_fused_qkv", 1001),  # scores that its reference does not show
        ("masked-mha", "right_online_softmax_over_keys", 7004),  # sums of bfloat16
        ("padding-mask", "right_raw_parameters_logsumexp", 7005),  # a small gradient in bfloat16
        ("softmax", "right_logaddexp_reduce", 7005),  # hundreds of logarithms added up
    ],
)
def test_rounding_is_not_held_against_an_answer(told, problem, name, seed):
    answer = SUBMISSIONS / problem / f"{name}.py"

    assert told(problem, answer.read_text(encoding="utf-8"), seed) == {}


@pytest.mark.parametrize(
    ("problem", "source"),
    [
        ("sdpa", SDPA.format(**RIGHT)),
        ("sdpa", SDPA.format(**{**RIGHT, "first": "v = v[..., :300, :]; k = k[..., :300, :]"})),
        (
            "sdpa",
            SDPA.format(
                **{
                    **RIGHT,
                    "masked": "scores.masked_fill(mask == 0, -65504.0"
                    " if q.dtype is torch.bfloat16 else -torch.inf)",
                }
            ),
        ),
        (
            "masked-mha",
            (SUBMISSIONS / "masked-mha" / "right_raw_parameters.py").read_text("utf-8"),
        ),
    ],
)
def test_running_the_reference_in_every_dtype_changes_nothing(told, monkeypatch, problem, source):
    quick = told(problem, source, seed=11)
    monkeypatch.setattr(Asking, "_dtype_known", lambda *_: None)

    assert told(problem, source, seed=11) == quick


@pytest.mark.parametrize(
    "first",
    ["torch.empty(0 if q.shape[-2] < 250 else 1 << 50, dtype=torch.int8)",
     "while q.shape[-2] > 250: pass"],
    ids=["memory", "time"],
)  # fmt: skip
def test_what_an_answer_does_not_answer_at_length_it_has_failed(told, first):
    failed = told("sdpa", SDPA.format(**{**RIGHT, "first": first}))

    assert "any-length" in failed


def test_a_mode_in_which_an_answer_hangs_is_named_and_nothing_else(told):
    hangs = "while torch.is_inference_mode_enabled(): pass"
    failed = told("sdpa", SDPA.format(**{**RIGHT, "first": hangs}))

    assert [*failed] == ["any-gradient-mode"]
    assert "under torch.inference_mode()" in failed["any-gradient-mode"]


@pytest.mark.parametrize("others", [2, 40])
def test_a_class_that_can_be_made_a_few_times_only_is_wrong(told, others):
    source = BANK.reference("kv-cache-step").read_text("utf-8")
    head, made = source.split("        super().__init__()\n", 1)
    counts = (
        "        super().__init__()\n"
        f"        made.append(0)\n        if len(made) > {others}:\n            raise ValueError\n"
    )
    imports, classes = head.split("\n\n\n", 1)

    assert told("kv-cache-step", f"{imports}\n\nmade = []\n\n\n{classes}{counts}{made}")


def test_a_loop_over_all_pairs_of_positions_is_right_however_slow_it_is(told):
    loop = "[one for one in range(40 * q.shape[-2] * k.shape[-2])]"

    assert told("sdpa", SDPA.format(**{**RIGHT, "first": loop})) == {}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_answer_that_is_wrong_at_length_is_so_however_slow_it_is(told, seed):
    slow = (
        "long = q.shape[-2] * k.shape[-2] > 4e4 and k.shape[-2] > 2 * torch.iinfo(torch.uint8).max"
        "; [one for one in range(20_000_000 * long)]; v = v.roll(1, -2) if long else v"
    )

    assert "any-length" in told("sdpa", SDPA.format(**{**RIGHT, "first": slow}), seed)


@pytest.mark.parametrize("moves", [0.0, 0.5])
def test_what_the_reference_does_not_feel_must_not_be_felt(moves):
    before, after = torch.ones(2, 3).double(), torch.ones(2, 3).double()
    after[1] = 100.0
    exact, changed = (Expected(one, one.bfloat16()) for one in (before, after))
    found = after.bfloat16()
    found[0, 2] += moves

    asked = (before.bfloat16(), exact, "output"), (found, changed, "output")
    if not moves:
        require_unmoved(*asked)
        return
    with pytest.raises(CheckFailure, match="changes with positions that are blocked") as told:
        require_unmoved(*asked)
    assert "[0, 2]" in told.value.detail


def test_a_rest_of_numbers_that_cancel_is_right_and_a_number_beside_zeros_is_not():
    zeros = torch.zeros(70)
    case = SimpleNamespace(is_half=False, names=["grad_weight"])

    def require(number, given):
        found = torch.full((70,), number)
        answer = SimpleNamespace(pairs=lambda name: [(found, Expected(zeros, zeros), name)])
        _require_right(case, [given], answer, 0.0, None)

    # a mean whose last digit is off, beside a spread of 0
    require(2.4e-7, torch.full((2, 70), 0.54))
    with pytest.raises(CheckFailure, match="grad_weight differs"):
        require(2.4e-7, torch.arange(140.0).view(2, 70))
    with pytest.raises(CheckFailure, match="grad_weight differs"):
        require(0.1, torch.full((2, 70), 0.54))
    with pytest.raises(CheckFailure, match="grad_weight differs"):
        require(2.4e-7, torch.zeros(2, 70))


def test_a_gradient_that_is_a_little_off_hides_no_other():
    exact = torch.ones(3)
    wanted = Expected(exact.double(), exact)
    little = "`q`", exact + 3 * wanted.tolerance(), wanted

    _require_gradients([little], is_half=False)
    for gradient in (torch.zeros(3), None):
        with pytest.raises(CheckFailure, match="`k`"):
            _require_gradients([little, ("`k`", gradient, wanted)], is_half=False)


@pytest.mark.parametrize(
    ("where", "cut"),
    [
        ("mask is not None", "v = v[..., : k.shape[-2], :]"),
        ("q.dtype is torch.bfloat16", "k = k[..., : q.shape[-1]]"),
        ("mask is not None and mask.ndim == 2", "mask = mask[: q.shape[-2], : k.shape[-2]]"),
    ],
)
def test_sizes_must_raise_in_every_form_of_a_question(told, where, cut):
    source = SDPA.format(**RIGHT).replace(
        "    if q.shape", f"    if {where}: {cut}\n    if q.shape"
    )

    failed = told("sdpa", source, 1)

    assert [*failed] == ["sizes-that-belong-together"]
    assert failed["sizes-that-belong-together"].startswith("accepts `q` ")
