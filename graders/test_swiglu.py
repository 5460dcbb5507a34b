"""A gated feed-forward layer without biases: down(SiLU(gate(x)) · up(x))."""

# … leading  B items  L length  E model features  F hidden features

import torch

from mha_judge.grading import (
    assert_close,
    assert_gradients_match,
    assert_inputs_unchanged,
    assert_rejected,
    check,
    fail,
)

E, F = 33, 47
B, L = 2, 7


def layer_of(candidate, embed_dim=E, ffn_dim=F, dtype=torch.float32):
    return candidate.SwiGLUFeedForward(embed_dim=embed_dim, ffn_dim=ffn_dim, dtype=dtype)


@check(
    "Is made with (embed_dim, ffn_dim), and has the maps gate, up and down",
    category="shape",
    points=2,
)
def test_constructor(candidate, draw):
    layer_of(candidate)


@check(
    "Has 3EF parameters: the weights of three maps, and no biases",
    category="cost",
    points=2,
    after="constructor",
)
def test_parameter_count(candidate, draw):
    layer = layer_of(candidate)
    wanted, _ = layer.contract_parameters
    if layer.parameter_count != wanted:
        small = [p.path for p in layer.parameters if p.shape is not None and len(p.shape) < 2]
        beside = f"; beside matrices there are {', '.join(small)}" if small else ""
        fail(f"has {layer.parameter_count} parameters; 3EF = {wanted} are wanted{beside}")


@check("Returns (B, L, E)", category="shape", points=2, after="constructor")
def test_output_shape(candidate, draw):
    answer = layer_of(candidate)(draw.normal(B, L, E))

    assert answer.output.shape == (B, L, E)


@check("Right values on several random shapes", category="values", points=5, after="output_shape")
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L E F", (2, 3, 5, 7, 11, 13))
        x = 2 * draw.normal(n["B"], n["L"], n["E"])
        assert_close(layer_of(candidate, n["E"], n["F"])(x), "output")
    assert_close(layer_of(candidate)(2 * draw.normal(B, L, E)), "output")


@check(
    "The hidden layer is ffn_dim wide, be it narrower or wider than E",
    category="values",
    points=2,
    after="output_shape",
)
def test_ffn_width(candidate, draw):
    for embed_dim, ffn_dim in ((E, 5), (E, 151), (32, 16), (3, 2), (2, 3)):
        layer = layer_of(candidate, embed_dim, ffn_dim)
        assert_close(layer(2 * draw.normal(B, L, embed_dim)), "output")


@check(
    "Works with any leading axes, or none",
    category="shape",
    points=3,
    after="output_shape",
)
def test_leading_axes(candidate, draw):
    layer = layer_of(candidate)
    for leading in (
        (),
        (1,),
        (5,),
        (1, 1),
        (1, 5),
        (5, 1),
        (2, 3, 5),
        (1, 2, 1, 3),
        (E, E),
        (5000,),
    ):
        assert_close(layer(2 * draw.normal(*leading, E)), "output")
    for leading in ((), (1,), (5,)):
        assert_close(layer_of(candidate, 1, 1)(2 * draw.normal(*leading, 1)), "output")


@check(
    "Gates of any size: finite and right, in half precision too",
    category="numerics",
    points=3,
    after="values",
)
def test_large_gates(candidate, draw):
    layer = layer_of(candidate)
    for scale in (10.0, 100.0, 1000.0):
        assert_close(layer(scale * draw.normal(B, L, E)), "output")
    for dtype in (torch.float16, torch.bfloat16):
        layer = layer_of(candidate, dtype=dtype)
        assert_close(layer((10 * draw.normal(B, L, E)).to(dtype)), "output")
    narrow = layer_of(candidate, 7, 5, dtype=torch.float64)
    exact, _ = narrow.references()
    for low in (-12.0, -20.0):  # all gates are as low, so that next to nothing is left, and felt
        x = torch.linalg.pinv(exact.gate_proj.weight.detach()).sum(-1) * low
        answer = narrow(x)
        # e^z is as far off as z is, in which a gate may be written
        answer.beside(output=-low * float(answer.expected["output"].exact.abs().max()))
        assert_close(answer, "output")
    narrow = layer_of(candidate, 7, 3, dtype=torch.float64)
    exact, _ = narrow.references()
    both = torch.cat([exact.gate_proj.weight.detach(), exact.up_proj.weight.detach()])
    size = torch.tensor([-4000.0, 4000.0], dtype=torch.float64).repeat_interleave(3)
    assert_close(narrow(torch.linalg.pinv(both) @ size), "output")  # nothing passes a shut gate


@check(
    "float64 in, float64 out; float16 and bfloat16 likewise",
    category="numerics",
    points=2,
    after="values",
)
def test_dtypes(candidate, draw):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert_close(layer_of(candidate, dtype=dtype)(draw.normal(B, L, E).to(dtype)), "output")


@check(
    "Gradients reach the input and every weight, and are right",
    category="gradients",
    points=3,
    after="output_shape",
)
def test_gradients(candidate, draw):
    layer = layer_of(candidate)
    for leading in ((B, L), (5,), ()):
        x, grad = draw.normal(*leading, E), draw.normal(*leading, E)
        assert_gradients_match(layer, x, wrt=(0,), cotangents=[grad], parameters=True)


@check(
    "Gradients are finite and right for gates of any size",
    category="gradients",
    points=3,
    after=("large_gates", "gradients"),
)
def test_gradients_of_large_gates(candidate, draw):
    for dtype, scale in ((torch.float32, 300.0), (torch.float32, 1000.0), (torch.float16, 15.0)):
        layer = layer_of(candidate, dtype=dtype)
        x, grad = (scale * draw.normal(B, L, E)).to(dtype), draw.normal(B, L, E).to(dtype)
        assert_gradients_match(layer, x, wrt=(0,), cotangents=[grad], parameters=True)


@check(
    "Strided inputs, as transposing makes them, give the same",
    category="robustness",
    points=1,
    after="values",
)
def test_non_contiguous(candidate, draw):
    layer = layer_of(candidate)

    assert_close(layer(draw.normal(L, B, E).transpose(0, 1)), "output")
    assert_close(layer(draw.normal(B, E, L).transpose(1, 2)), "output")
    assert_close(layer(draw.normal(B, L, 2 * E)[..., ::2]), "output")


@check("The inputs are left as they were", category="robustness", points=1, after="output_shape")
def test_inputs_unchanged(candidate, draw):
    layer = layer_of(candidate)

    assert_inputs_unchanged(layer, draw.normal(B, L, E))
    assert_inputs_unchanged(layer, draw.normal(E))


@check("Input of another width raises", category="robustness", points=1, after="output_shape")
def test_bad_width(candidate, draw):
    layer = layer_of(candidate)

    assert_rejected(layer, draw.normal(B, L, E - 1), why="input of another width than embed_dim")
    assert_rejected(layer, draw.normal(B, L, 2 * E), why="input twice as wide as embed_dim")
    assert_rejected(layer, draw.normal(B, E, L), why="input whose last axis is not the features")
