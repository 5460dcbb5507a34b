"""The mean cross-entropy of logits (B, L, V), and its gradient (p − q) / n by hand."""

# B batch  L length  V classes

import torch

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_no_autograd,
    assert_no_library_loss,
    assert_rejected,
    check,
    fail,
)

SIZES = (3, 5, 7, 11, 13)
LITTLE = 1.0
"""How far logits spread that leave no p so small that a clipped log shows."""


def question(draw, B=3, L=5, V=7, ignored=None, dtype=torch.float32, spread=2.0):
    """Return logits and targets; some are ignored, in each item another number of them."""
    logits = spread * draw.normal(B, L, V, dtype=dtype)
    targets = draw.lengths(B, L, most=V) - 1
    if ignored is not None:
        counts = draw.mask(B, L)
        counts[0] = True
        counts[1, 1:] = False
        counts[1, 0] = True
        targets[~counts] = ignored
    return logits, targets


def far_apart(draw, dtype):
    """Return whole logits so far apart that every right way to compute p gives 0 and 1."""
    whole = torch.stack([draw.permutation(7) for _ in range(20)]).reshape(4, 5, 7)
    _, targets = question(draw, B=4)
    return (3000.0 * whole - 10_000).to(dtype), targets


def blocked(draw, ignored, dtype, level=0):
    """Return logits that are −∞ at many classes, and targets that may be ignored, if marked.

    No target is unlikely: what is lost of a small probability is for other checks.
    """
    logits, targets = question(draw, ignored=ignored, dtype=dtype)
    logits = (logits + level).clamp(min=-100_000)
    kept = (targets != (-100 if ignored is None else ignored)).unsqueeze(-1)
    closed = ~draw.mask(3, 5, 7)
    closed[..., 0] = closed[..., 3] = True  # what stands for an ignored target, maybe
    closed[..., 5] = False
    open_ = torch.where(kept, targets.unsqueeze(-1), 5)
    logits = logits.scatter_add(-1, open_, torch.full_like(logits, 3.0))
    return logits.masked_fill(closed.scatter(-1, open_, False), -torch.inf), targets


def mostly_blocked(draw, dtype, V):
    """Return logits that are −∞ at all classes below the target, or at all above it."""
    logits, targets = question(draw, V=V, dtype=dtype)
    targets[0, 0] = V - 1
    past = torch.arange(V) - targets.unsqueeze(-1)
    closed = torch.where(draw.mask(3, 5, 1), past < 0, past > 0)
    return logits.masked_fill(closed, -torch.inf), targets


def assert_loss(candidate, logits, *args):
    """Assert that the loss is right: a difference of numbers as large as the logits."""
    answer = candidate.cross_entropy(logits, *args)
    if logits.dtype is not torch.float64:  # whose errors are far below what is graded
        answer.beside(loss=logits[logits.isfinite()].abs().max())
    assert_close(answer, "loss")


def assert_gradient(candidate, logits, *args, moved=1.0):
    """Assert that the gradient is right, and exactly 0 at ignored positions.

    It is a difference of p and q, which are as large as 1; and p is as far off as log p, where that
    was computed by way of log-sum-exp from logits that were `moved`.
    """
    targets, ignored = (*args, -100)[:2]
    kept = targets != ignored
    answer = candidate.cross_entropy_backward(logits, *args)
    if logits.dtype is not torch.float64:
        answer.beside(grad_logits=moved / max(1, int(kept.sum())))
    assert_close(answer, "grad_logits")
    if bool((answer.grad_logits[~kept] != 0).any()):
        fail("the gradient is not exactly 0 at an ignored position")


def assert_both(candidate, *args, moved=1.0):
    assert_loss(candidate, *args)
    assert_gradient(candidate, *args, moved=moved)


def assert_dtype(found, wanted, what):
    dtype = getattr(found, "dtype", None)
    if dtype != wanted:
        fail(f"{what} comes back as {dtype}; {wanted} is wanted")


@check("The loss is a tensor of no dimensions", category="shape", points=2)
def test_loss_form(candidate, draw):
    answer = candidate.cross_entropy(*question(draw))

    assert answer.loss.shape == ()


@check("The gradient has the shape of the logits", category="shape", points=2)
def test_gradient_form(candidate, draw):
    answer = candidate.cross_entropy_backward(*question(draw))

    assert answer.grad_logits.shape == (3, 5, 7)


@check(
    "The loss is the mean of −log p at the targets",
    category="values",
    points=5,
    after="loss_form",
)
def test_loss(candidate, draw):
    for _ in range(3):
        assert_loss(candidate, *question(draw, **draw.sizes("B L V", SIZES)))


@check(
    "The gradient is (p − q) / n, with q = 1 at the target",
    category="values",
    points=5,
    after="gradient_form",
)
def test_gradient(candidate, draw):
    for _ in range(3):
        assert_gradient(candidate, *question(draw, **draw.sizes("B L V", SIZES)))


@check(
    "Equal sizes, sizes of 1 and thousands of classes; one class alone has a loss of 0",
    category="shape",
    points=2,
    after=("loss", "gradient"),
)
def test_sizes(candidate, draw):
    for sizes in ((4, 4, 4), (1, 5, 7), (3, 1, 7), (1, 1, 7), (3, 5, 1), (1, 1, 1), (1, 7, 7)):
        assert_both(candidate, *question(draw, *sizes))
    # in float64, as a sum of thousands of numbers in turn is far off in float32, and right
    assert_both(candidate, *question(draw, 2, 3, 2_100, dtype=torch.float64, spread=LITTLE / 2))


@check(
    "Ignored targets are neither in the sum nor in the number that it is divided by",
    category="masking",
    points=4,
    after="loss",
)
def test_ignored_loss(candidate, draw):
    for _ in range(2):
        args = question(draw, **draw.sizes("B L V", SIZES), ignored=-100)
        assert_loss(candidate, *args)
        assert_loss(candidate, *args, -100)


@check(
    "Ignored positions have a gradient of exactly 0, and the others are divided by their number",
    category="masking",
    points=4,
    after="gradient",
)
def test_ignored_gradient(candidate, draw):
    for _ in range(2):
        args = question(draw, **draw.sizes("B L V", SIZES), ignored=-100)
        assert_gradient(candidate, *args)
        assert_gradient(candidate, *args, -100)


@check(
    "Any integer may be ignore_index: 0, another class, −1, V and more",
    category="masking",
    points=3,
    after=("ignored_loss", "ignored_gradient"),
)
def test_ignore_index(candidate, draw):
    for ignored in (-1, 3, 0, 6, -2, 7, 50_000, 65_536 + 3, 2**32 + 3, -1_000_000):
        assert_both(candidate, *question(draw, ignored=ignored), ignored)
    assert_both(candidate, *question(draw), 7)  # which no target is
    logits, targets = question(draw, ignored=0)
    targets[0, :2] = torch.tensor([6, 5])  # the classes that −1 and −2 count from the end
    assert_both(candidate, logits, targets, 0)


@check(
    "With all targets ignored the loss is 0, and so is its gradient",
    category="masking",
    points=3,
    after=("ignored_loss", "ignored_gradient"),
)
def test_all_ignored(candidate, draw):
    for ignored in (-100, 3, 9):
        logits, targets = question(draw)
        targets[:] = ignored
        for smoothing in (0.0, 0.2):
            assert_both(candidate, logits, targets, ignored, smoothing)
        logits[..., draw.integer(0, 6)] = -torch.inf
        assert_both(candidate, logits, targets, ignored)
    logits, targets = question(draw, ignored=-100)
    targets[0] = -100  # one item alone
    assert_both(candidate, logits, targets)


@check(
    "Smoothing: the loss gives each class ε/V, and the target 1 − ε on top",
    category="values",
    points=4,
    after="loss",
)
def test_smoothed_loss(candidate, draw):
    for smoothing in (0.35, 0.98, 0.003):
        sizes = draw.sizes("B L V", SIZES)
        assert_loss(candidate, *question(draw, **sizes, spread=LITTLE), -100, smoothing)
    assert_loss(candidate, *question(draw, V=2), -100, 0.1)


@check(
    "Smoothing: the gradient is that of the smoothed loss",
    category="values",
    points=4,
    after="gradient",
)
def test_smoothed_gradient(candidate, draw):
    for smoothing in (0.35, 0.98, 0.003):
        sizes = draw.sizes("B L V", SIZES)
        assert_gradient(candidate, *question(draw, **sizes), -100, smoothing)
    assert_gradient(candidate, *question(draw, V=2), -100, 0.1)


@check(
    "Smoothing leaves ignored positions out, and is over all classes, the ignored one too",
    category="masking",
    points=2,
    after=("smoothed_loss", "smoothed_gradient", "ignore_index"),
)
def test_smoothed_ignored(candidate, draw):
    for ignored in (-100, 0, 4, 7):
        assert_both(candidate, *question(draw, ignored=ignored, spread=LITTLE), ignored, 0.2)


@check(
    "Logits of ±100 000 overflow nowhere, at whatever levels the positions are",
    category="numerics",
    points=3,
    after=("loss", "gradient"),
)
def test_large_logits(candidate, draw):
    level = 1000.0 * draw.permutation(20).reshape(4, 5, 1).double()  # of each position
    for ignored in (None, -100):
        logits, targets = question(draw, B=4, ignored=ignored, dtype=torch.float64)
        for moved in (logits + 1e5, logits - 1e5, 1e4 * logits, logits + level):
            for smoothing in (0.0, 0.1):
                assert_both(candidate, moved, targets, -100, smoothing)
    many, targets_of_many = question(draw, V=2_100, dtype=torch.float64)  # in blocks, perhaps
    for far in (1e5, -1e5):
        assert_both(candidate, many + far, targets_of_many)
    assert_both(candidate, *far_apart(draw, torch.float32))
    for near in (200, -200, 1e4, -1e4):
        assert_both(candidate, logits.float() + near, targets, moved=abs(near))


@check(
    "A target that is all but impossible has a large loss, not an infinite or a bounded one",
    category="numerics",
    points=2,
    after=("loss", "gradient"),
)
def test_unlikely_target(candidate, draw):
    for far in (30.0, 60.0, 110.0, 900.0):
        for dtype in (torch.float32, torch.float64):
            logits, targets = question(draw, dtype=dtype)
            logits.scatter_(-1, targets.unsqueeze(-1), -far)
            assert_both(candidate, logits, targets)
            assert_both(candidate, logits, targets, -100, 0.1)


@check(
    "A logit of −∞ at a class that is not the target changes nothing else",
    category="numerics",
    points=3,
    after=("ignored_loss", "ignored_gradient"),
)
def test_minus_infinity(candidate, draw):
    for ignored in (None, -100, 0, 3, 9):
        ignore_index = -100 if ignored is None else ignored
        assert_both(candidate, *blocked(draw, ignored, torch.float32), ignore_index)
        for low in (20_000, 99_995):
            args = blocked(draw, ignored, torch.float64, -low)
            assert_both(candidate, *args, ignore_index)
            assert_both(candidate, args[0].float(), args[1], ignore_index, moved=low)
    for dtype in (torch.float32, torch.float64):
        for classes in (300, 1100):
            assert_both(candidate, *mostly_blocked(draw, dtype, classes))


@check("float64 in, float64 out", category="numerics", points=1, after=("loss", "gradient"))
def test_float64(candidate, draw):
    for smoothing in (0.0, 0.1):
        assert_both(candidate, *question(draw, dtype=torch.float64), -100, smoothing)


@check(
    "bfloat16 logits: computed in float32, a loss in float32, a gradient in bfloat16",
    category="numerics",
    points=2,
    after=("ignored_loss", "ignored_gradient", "large_logits", "minus_infinity"),
)
def test_bfloat16(candidate, draw):
    for smoothing in (0.0, 0.1):
        logits, targets = question(draw, ignored=-100, dtype=torch.bfloat16)
        args = (logits, targets, -100, smoothing)
        loss, gradient = candidate.cross_entropy, candidate.cross_entropy_backward
        assert_dtype(loss.attempt(*args), torch.float32, "the loss")
        assert_dtype(gradient.attempt(*args), torch.bfloat16, "the gradient")
        assert_both(candidate, *args)
        # more targets, and classes, than bfloat16 tells apart
        assert_both(candidate, *question(draw, L=201, dtype=torch.bfloat16), -100, smoothing)
        assert_both(candidate, *question(draw, V=700, dtype=torch.bfloat16), -100, smoothing)
    # where p is close to 1, what bfloat16 would leave of it is far from p − 1
    logits, targets = question(draw, dtype=torch.bfloat16)
    near_one = (logits / 4).scatter(-1, targets.unsqueeze(-1), 6.0)
    assert_gradient(candidate, near_one, targets, moved=0)
    assert_both(candidate, *far_apart(draw, torch.bfloat16))
    assert_both(candidate, *blocked(draw, 0, torch.bfloat16), 0)


@check("The inputs are left as they were", category="robustness", points=2, after="loss_form")
def test_inputs_unchanged(candidate, draw):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for extra in ((), (-100,), (-100, 0.1)):
            args = (*question(draw, ignored=-100, dtype=dtype), *extra)
            assert_inputs_unchanged(candidate.cross_entropy, *args)
            assert_inputs_unchanged(candidate.cross_entropy_backward, *args)


@check(
    "Targets that are not (B, L) raise",
    category="robustness",
    points=1,
    after=("loss", "gradient"),
)
def test_bad_shapes(candidate, draw):
    logits, targets = question(draw)
    wrong = (
        (targets[:, :-1], "fewer targets than positions"),
        (torch.cat([targets, targets], dim=1), "more targets than positions"),
        (targets[:-1], "targets of fewer items"),
        (torch.cat([targets, targets]), "targets of more items"),
        (targets.T.contiguous(), "targets (L, B)"),
        (targets.flatten(), "targets (B · L,)"),
        (targets.unsqueeze(-1), "targets (B, L, 1)"),
    )
    for entry in (candidate.cross_entropy, candidate.cross_entropy_backward):
        for other, why in wrong:
            assert_rejected(entry, logits, other, why=why)


@check(
    "A target that counts and is no class raises, below 0 too",
    category="robustness",
    points=2,
    after=("ignored_loss", "ignored_gradient"),
)
def test_bad_targets(candidate, draw):
    below = ((-100, -1), (-1, -100), (0, -100), (3, -7))
    above = ((-100, 7), (-100, 1000), (7, 8), (7, 1000), (1000, 999), (-100, 2**32 + 1))
    for ignored, bad in (*below, *above):
        for smoothing in (0.0, 0.1):
            logits, targets = question(draw, ignored=ignored)
            targets[draw.integer(0, 2), draw.integer(0, 4)] = bad
            why = f"a target of {bad} with V = 7 and ignore_index {ignored}"
            for entry in (candidate.cross_entropy, candidate.cross_entropy_backward):
                assert_rejected(entry, logits, targets, ignored, smoothing, why=why)


@check(
    "Derived by hand: no autograd of any kind",
    category="policy",
    points=4,
    after="gradient",
)
def test_no_autograd(candidate, draw):
    assert_no_autograd(candidate, candidate.cross_entropy_backward, *question(draw))


@check(
    "Written from scratch: no loss of the library",
    category="policy",
    points=3,
    after=("ignored_loss", "ignored_gradient"),
)
def test_no_library_loss(candidate, draw):
    for entry in (candidate.cross_entropy, candidate.cross_entropy_backward):
        assert_no_library_loss(candidate, entry, *question(draw, ignored=-100))
