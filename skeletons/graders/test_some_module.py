"""FILL IN: the equation in words."""

# B batch  L length  H heads  D head size  E = H·D width

from mha_judge.grading import assert_close, assert_gradients_match, check

E, H = 33, 3  # D = 11
B, L = 2, 7


@check("Right values on several random shapes", category="values", points=5)
def test_values(candidate, draw):
    for _ in range(3):
        n = draw.sizes("B L H D", (2, 3, 5, 7, 11))
        width = n["H"] * n["D"]
        layer = candidate.SomeModule(embed_dim=width, num_heads=n["H"])

        assert_close(layer(draw.normal(n["B"], n["L"], width)), "output")


@check("Gradients reach x and all weights", category="gradients", points=2, after="values")
def test_gradients(candidate, draw):
    layer = candidate.SomeModule(embed_dim=E, num_heads=H)
    x, cotangent = draw.normal(B, L, E), draw.normal(B, L, E)

    assert_gradients_match(layer, x, wrt=(0,), cotangents=[cotangent], parameters=True)


# FILL IN: checks of masks, numerics, gradients, robustness and policy; graders/shared has many
