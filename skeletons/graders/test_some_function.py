"""FILL IN: the equation in words."""

# B batch  L query length  S key length  D head size

from mha_judge.grading import assert_close, assert_gradients_match, check


def qk(draw, B=2, L=5, S=7, D=11):
    return draw.normal(B, L, D), draw.normal(B, S, D)


@check("Right values on several random shapes", category="values", points=5)
def test_values(candidate, draw):
    for _ in range(3):
        assert_close(candidate.some_function(*qk(draw, **draw.sizes("B L S D"))), "output")


@check("Gradients reach both inputs", category="gradients", points=2, after="values")
def test_gradients(candidate, draw):
    cotangent = draw.normal(2, 5, 7)

    assert_gradients_match(candidate.some_function, *qk(draw), wrt=(0, 1), cotangents=[cotangent])


# FILL IN: checks of masks, numerics, gradients, robustness and policy; graders/shared has many
