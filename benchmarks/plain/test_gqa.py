"""What one would write by hand to test grouped-query attention: eight checks."""

import answer
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as official


def expected(layer, x, groups, mask=None):
    length, heads = x.shape[1], 8
    q, k, v = (
        map_(x).view(2, length, count, -1).transpose(1, 2)
        for map_, count in ((layer.W_q, heads), (layer.W_k, groups), (layer.W_v, groups))
    )
    output = official(q, k, v, attn_mask=mask, enable_gqa=True)
    return layer.W_o(output.transpose(1, 2).reshape(x.shape))


def layer_of(groups=2):
    return answer.GroupQueryAttention(32, 8, groups)


@pytest.mark.parametrize("groups", [1, 2, 8])
def test_values(groups):
    layer, x = layer_of(groups), torch.randn(2, 6, 32)

    torch.testing.assert_close(layer(x), expected(layer, x, groups))


@pytest.mark.parametrize("shape", [(6, 6), (2, 1, 6, 6), (2, 1, 1, 6)])
def test_masks(shape):
    layer, x = layer_of(), torch.randn(2, 6, 32)
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True

    torch.testing.assert_close(layer(x, mask), expected(layer, x, 2, mask))


def test_gradients():
    layer, x = layer_of(), torch.randn(2, 6, 32)
    layer(x).sum().backward()
    found = layer.W_k.weight.grad.clone()
    layer.zero_grad()
    expected(layer, x, 2).sum().backward()

    torch.testing.assert_close(found, layer.W_k.weight.grad)


def test_sizes_that_do_not_divide():
    with pytest.raises(Exception):  # noqa: B017 of any kind
        answer.GroupQueryAttention(32, 8, 3)
