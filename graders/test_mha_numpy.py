"""Multi-head attention on NumPy arrays: four arrays used as x @ W; in the masks 1 blocks."""

# B batch  L length  H heads  D head size  E = H·D width

import numpy
import torch
from graders.shared import cross_attention, self_attention

from mha_judge.grading import (
    assert_close,
    assert_inputs_unchanged,
    assert_not_imported,
    assert_rejected,
    check,
    fail,
    restated,
)

E, H = 33, 3  # D = 11
B, L = 2, 7
MASK_DTYPES = (
    torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32, torch.float64,
)  # fmt: skip


def layer_of(candidate, embed_dim=E, num_heads=H, dtype=torch.float64):
    return candidate.MultiHeadAttentionNumpy(embed_dim=embed_dim, num_heads=num_heads, dtype=dtype)


def qkv(draw, B=B, L=L, E=E, dtype=torch.float64):
    return tuple(draw.normal(B, L, E, dtype=dtype) for _ in range(3))


class MadeAndCalled:
    """A layer that is made and, if that does not raise, called with arrays."""

    def __init__(self, made, x):
        self.made = made
        self.x = x.numpy()

    def attempt(self, *sizes):
        named = dict(zip(self.made.entry.constructor, sizes, strict=True))
        handle, _ = self.made.make(named)
        call = self.made.bind_call([self.x] * 3, named)
        self.made.context.session.request("call", (*call, None), target=handle)


def blocking(draw, *shape, keep=0.6):
    return (~draw.mask(*shape, keep=keep)).double()


test_constructor = restated(
    self_attention.test_constructor,
    "Is made with (d_model, n_heads), and has arrays for q, k, v and the output",
)
test_parameter_count = restated(
    self_attention.test_parameter_count,
    "Has no parameters but the four arrays: 4E², and 4E of biases at most",
)
test_output_shape = restated(cross_attention.test_output_shape, "Returns an output (B, L, E)")


@check(
    "Returns each head's weights (B, H, L, L) beside the output",
    category="shape",
    points=1,
    after="output_shape",
)
def test_weights_shape(candidate, draw):
    answer = layer_of(candidate)(*qkv(draw))

    assert answer.weights.shape == (B, H, L, L)


@check("Self-attention: q, k and v are one array", category="values", points=3, after="constructor")
def test_self_attention(candidate, draw):
    x = draw.normal(B, L, E, dtype=torch.float64)

    assert_close(layer_of(candidate)(x, x, x), "output")


@check(
    "Three different arrays, on several random shapes",
    category="values",
    points=5,
    after="output_shape",
)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]

        assert_close(
            layer_of(candidate, width, n["H"])(*qkv(draw, n["B"], n["L"], width)), "output"
        )


@check(
    "The weights are each head's softmax over the keys",
    category="values",
    points=2,
    after="weights_shape",
)
def test_weights(candidate, draw):
    layer = layer_of(candidate)

    for batch in (B, B, 1):
        assert_close(layer(*qkv(draw, B=batch)), "weights")


@check(
    "The arrays are used as x @ W, not as x @ W.T",
    category="values",
    points=2,
    after="output_shape",
)
def test_arrays_as_they_are(candidate, draw):
    layer = layer_of(candidate)

    assert_close(layer(*qkv(draw)), "output")
    if any(choice.endswith("=out in") for choice in layer.arrangement.key):
        fail("an array set from outside is used as x @ W.T; x @ W is wanted")


test_number_of_heads = cross_attention.test_number_of_heads
test_batch_items = cross_attention.test_batch_items


@check(
    "Sizes of 1 are sizes like others, and L may be H, B or E",
    category="shape",
    points=2,
    after="output_shape",
)
def test_size_one(candidate, draw):
    layer = layer_of(candidate)
    for sizes in ({"B": 1}, {"L": 1}, {"B": 1, "L": 1}, {"L": H}, {"B": 5, "L": 5}, {"L": E}):
        assert_close(layer(*qkv(draw, **sizes)), "output")
    assert_close(layer(*qkv(draw, L=1), torch.zeros(B, 1, 1, 1)), "output")
    assert_close(layer(*qkv(draw, B=1), blocking(draw, L, L)), "output")
    assert_close(layer(*qkv(draw, B=5, L=5), blocking(draw, 5, 5)), "output")
    one_head = layer_of(candidate, num_heads=1)
    for shape in ((L, L), (B, 1, 1, L), (B, 1, L, L)):
        assert_close(one_head(*qkv(draw), blocking(draw, *shape)), "output")


@check("A mask (L, L): 1 blocks, 0 may attend", category="masking", points=4, after="constructor")
def test_mask(candidate, draw):
    layer = layer_of(candidate)
    for _ in range(2):
        assert_close(layer(*qkv(draw), blocking(draw, L, L)), "output")
    q, k, v = qkv(draw)
    q[:, 1], k[:, 3] = 0, 0  # without biases these scores are exactly 0, and scores like others
    assert_close(layer(q, k, v, blocking(draw, L, L)), "output")


@check(
    "A causal mask, 1 above the diagonal, leaves the future out",
    category="masking",
    points=2,
    after="constructor",
)
def test_causal_mask(candidate, draw):
    x = draw.normal(B, L, E, dtype=torch.float64)

    assert_close(layer_of(candidate)(x, x, x, torch.ones(L, L).triu(1).double()), "output")


@check(
    "A padding mask (B, 1, 1, L) and a mask (B, 1, L, L)",
    category="masking",
    points=2,
    after="constructor",
)
def test_padding_mask(candidate, draw):
    layer = layer_of(candidate)
    for shape in ((B, 1, 1, L), (B, 1, L, L)):
        assert_close(layer(*qkv(draw), blocking(draw, *shape)), "output")


@check(
    "A mask (B, H, L, L) differs from item to item and from head to head",
    category="masking",
    points=2,
    after="constructor",
)
def test_mask_per_head(candidate, draw):
    layer = layer_of(candidate)
    second_only = torch.zeros(B, H, L, L).double()
    second_only[:, 1] = blocking(draw, B, L, L, keep=0.3)

    assert_close(layer(*qkv(draw), second_only), "output")
    assert_close(layer(*qkv(draw), blocking(draw, B, H, L, L)), "output")


@check("Masks may be bool, integer or float", category="masking", points=2, after="mask")
def test_mask_dtypes(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    for shape in ((B, 1, L, L), (L, L), (B, 1, 1, L), (B, H, L, L)):
        mask = blocking(draw, *shape)
        for dtype in MASK_DTYPES:
            assert_close(layer(q, k, v, mask.to(dtype)), "output")


@check(
    "A blocked position has no influence, whatever its key and value hold",
    category="masking",
    points=3,
    after="constructor",
)
def test_blocked_key_is_not_felt(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = blocking(draw, L, L)
    mask[:, 2] = 1
    mask[:, 3] = 0
    k[:, 2] = 1000 * k[:, 2]  # unmasked it would take all the weight of some queries
    v[:, 2] = 1000 * v[:, 2]

    assert_close(layer(q, k, v, mask), "output")


@check(
    "Masked weights are exact: 0 where blocked, rows sum to 1",
    category="masking",
    points=1,
    after=("weights_shape", "mask"),
)
def test_masked_weights(candidate, draw):
    mask = blocking(draw, B, 1, L, L)

    answer = layer_of(candidate)(*qkv(draw), mask)

    assert_close(answer, "weights")
    if bool((answer.weights * mask).any()):
        fail("a blocked key weighs more than 0")


@check(
    "A row in which every key is blocked does not disturb the others",
    category="masking",
    points=1,
    after="mask",
)
def test_blocked_row_stays_alone(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = blocking(draw, L, L)
    mask[1] = 1
    without = mask.clone()
    without[1] = 0
    others = [0, 2, 3, 4, 5, 6]

    answer = layer(q, k, v, mask)
    alone = layer(q, k, v, without)

    assert_close(alone, "output")
    if not torch.allclose(answer.output[:, others], alone.output[:, others], rtol=1e-4, atol=1e-5):
        fail("a blocked row changes the output of other rows")

    mask = blocking(draw, B, 1, 1, L)
    mask[0] = 1
    answer, alone = layer(q, k, v, mask), layer(q[1:], k[1:], v[1:], mask[1:])
    assert_close(alone, "output")
    if not torch.allclose(answer.output[1:], alone.output, rtol=1e-4, atol=1e-5):
        fail("a blocked item changes the output of other items")


@check(
    "Large logits stay finite and right, with a mask too",
    category="numerics",
    points=2,
    after="output_shape",
)
def test_large_logits(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)

    def far(x, scale):
        return (x * scale).float().to(x)  # float32 holds it: an answer in float32 is no further off

    for scale in (30.0, 100.0):
        assert_close(layer(far(q, scale), far(k, scale), v), "output")
    for scale in (20.0, 30.0):
        mask = blocking(draw, L, L, keep=0.2)  # a few open keys, some of them with low scores
        assert_close(layer(far(q, scale), far(k, scale), v, mask), "output")


@check(
    "float32 and float64 are as good, with and without a mask",
    category="numerics",
    points=1,
    after="mask",
)
def test_float32(candidate, draw):
    mask = blocking(draw, L, L)
    for dtype in (torch.float32, torch.float64):
        layer = layer_of(candidate, dtype=dtype)
        q, k, v = qkv(draw, dtype=dtype)

        for blocked in (None, mask.bool(), mask.to(dtype)):
            assert_close(layer(q, k, v, blocked), "output")


@check(
    "Strided inputs, as transposing and slicing make them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    q = draw.normal(L, B, E, dtype=torch.float64).transpose(0, 1)
    k = draw.normal(B, E, L, dtype=torch.float64).transpose(1, 2)
    v = draw.normal(B, L, 2 * E, dtype=torch.float64)[..., ::2]
    mask = blocking(draw, L, L).T
    mask.fill_diagonal_(0)  # no query is left without a key
    layer = layer_of(candidate)

    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, mask), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)

    assert_inputs_unchanged(layer, *qkv(draw))
    assert_inputs_unchanged(layer, *qkv(draw), blocking(draw, B, 1, L, L).bool())
    for dtype in MASK_DTYPES:
        assert_inputs_unchanged(layer, *qkv(draw), blocking(draw, L, L).to(dtype))


@check(
    "The same call gives the same answer, whatever was called or made in between",
    category="robustness",
    points=2,
    after="values",
)
def test_repeatable(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)
    mask = blocking(draw, L, L)

    assert_close(layer(q, k, v, mask), "output")
    assert_close(layer(*qkv(draw, B=1, L=3)), "output")
    assert_close(layer(q, k, v), "output")
    assert_close(layer(q, k, v, mask), "output")
    for heads in (H, 1):  # layers of the same and of other sizes, made later
        layer_of(candidate, num_heads=heads)
        assert_close(layer(q, k, v, mask), "output")


@check(
    "The arrays are read at each call: new ones, and new numbers in them, count at once",
    category="robustness",
    points=1,
    after="values",
)
def test_arrays_set_again(candidate, draw):
    layer = layer_of(candidate)
    x = draw.normal(B, L, E, dtype=torch.float64)
    for inputs in (qkv(draw), (x, x, x)):
        assert_close(layer(*inputs), "output")
        for _ in ("replaced", "written into"):
            layer.redraw()
            assert_close(layer(*inputs), "output")


@check(
    "A width that the heads do not divide raises",
    category="robustness",
    points=1,
    after="constructor",
)
def test_bad_heads(candidate, draw):
    made = candidate.MultiHeadAttentionNumpy
    for width, heads in ((10, 3), (3, 5)):
        x = draw.normal(B, L, width, dtype=torch.float64)

        assert_rejected(
            MadeAndCalled(made, x), width, heads, why=f"d_model {width} with {heads} heads"
        )


@check(
    "Inputs of another width raise, keys and values of different length too",
    category="robustness",
    points=1,
    after="output_shape",
)
def test_bad_inputs(candidate, draw):
    layer = layer_of(candidate)
    q, k, v = qkv(draw)

    assert_rejected(
        layer, q[..., :-1], k[..., :-1], v[..., :-1], why="inputs of another width than d_model"
    )
    wide = qkv(draw, E=E + 1)
    assert_rejected(layer, *wide, why="inputs wider than d_model")
    assert_rejected(layer, q, k, wide[2], why="values wider than d_model")
    assert_rejected(layer, q, k, v[:, :-1], why="fewer values than keys")
    assert_rejected(layer, q[:, :-1], k[:, :-1], v, why="more values than keys")


@check(
    "Written with NumPy: PyTorch is not imported", category="policy", points=3, after="output_shape"
)
def test_written_in_numpy(candidate, draw):
    assert_not_imported(candidate, "torch")
    assert_not_imported(candidate, "scipy")


@check(
    "float32 in, float32 out, with and without a mask",
    category="numerics",
    points=0,
    after="float32",
    advisory=True,
)
def test_float32_stays(candidate, draw):
    layer = layer_of(candidate, dtype=torch.float32)
    q, k, v = qkv(draw, dtype=torch.float32)
    for mask in (None, blocking(draw, L, L).bool()):
        found = layer.attempt(q, k, v, mask)
        output = found[0] if isinstance(found, (list, tuple)) else found
        if output.dtype != numpy.float32:
            where = "a mask" if mask is not None else "no mask"
            fail(
                f"with {where}, float32 comes back as {output.dtype}: np.sqrt(D) and "
                "mask * -1e9 are float64, and widen what they meet"
            )


@check(
    "float64 inputs give float64 precision",
    category="numerics",
    points=0,
    after="values",
    advisory=True,
)
def test_float64_precision(candidate, draw):
    answer = layer_of(candidate)(*qkv(draw))

    if (answer.output - answer.expected["output"].exact).abs().max() > 1e-10:
        fail("computes in float32 on the way: float64 inputs come out with float32 precision")
