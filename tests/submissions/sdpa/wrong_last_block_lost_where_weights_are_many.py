# expect: rejected
# problem: sdpa
# mistake: where there are more than 2^22 weights queries go block by block, and those of a last
#   block that is not whole stay zeros
import math

import torch

BLOCK = 64


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2) or q.shape[:-2] != k.shape[:-2]:
        raise ValueError("sizes do not fit")
    if math.prod(q.shape[:-1]) * k.size(-2) <= 1 << 22:
        return attend(q, k, v, mask)
    shape = q.shape[:-1]
    output = [torch.zeros(*shape, v.size(-1), dtype=q.dtype)]
    weights = [torch.zeros(*shape, k.size(-2), dtype=q.dtype)]
    if mask is not None:
        mask = mask.expand(*shape, k.size(-2))
    for block in range(q.size(-2) // BLOCK):
        rows = slice(block * BLOCK, (block + 1) * BLOCK)
        one, other = attend(
            q[..., rows, :], k, v, mask if mask is None else mask[..., rows, :]
        )
        output.insert(-1, one)
        weights.insert(-1, other)
    left = q.size(-2) % BLOCK
    output[-1], weights[-1] = output[-1][..., :left, :], weights[-1][..., :left, :]
    return torch.cat(output, -2), torch.cat(weights, -2)


def attend(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    weights = scores.softmax(-1)
    return weights @ v, weights
