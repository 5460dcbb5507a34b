"""The reference against PyTorch's multi-head attention, and against loops and slices."""

import torch
from reference.mha_valid_lens import (
    MultiHeadAttention,
    masked_softmax,
    transpose_output,
    transpose_qkv,
)
from torch import nn

B, L, S, E, H = 2, 5, 7, 33, 3
KEY, QUERY, VALUE = 13, 17, 19


def cases():
    """Yield a name, the reference's result and another one's, in float64."""
    x = torch.randn(B, L, E, dtype=torch.float64)
    folded = transpose_qkv(x, H)
    yield "slices, folded", folded, torch.stack([p for item in x for p in item.chunk(H, -1)])
    yield "slices, unfolded", transpose_output(folded, H), x

    scores = torch.randn(B, L, S, dtype=torch.float64)
    lens = torch.tensor([3, 6])
    of_queries = torch.randint(1, S + 1, (B, L))
    yield "softmax of prefixes", masked_softmax(scores, lens), _prefixes(scores, lens[:, None])
    yield (
        "softmax of prefixes of queries",
        masked_softmax(scores, of_queries),
        _prefixes(scores, of_queries),
    )

    for bias in (False, True):
        yield from _layers(lens, of_queries, bias)


def _prefixes(scores, lens):
    """Return the softmax of each query's first scores, and zeros behind it."""
    weights = torch.zeros_like(scores)
    lens = lens.expand(scores.shape[:2])
    for item in range(scores.shape[0]):
        for query in range(scores.shape[1]):
            length = int(lens[item, query])
            weights[item, query, :length] = scores[item, query, :length].softmax(0)
    return weights


def _layers(lens, of_queries, bias):
    own = MultiHeadAttention(KEY, QUERY, VALUE, E, H, 0.1, bias).double().eval()
    other = nn.MultiheadAttention(E, H, bias=bias, batch_first=True, dtype=torch.float64).eval()
    maps = (own.W_q, own.W_k, own.W_v)
    other.in_proj_weight.copy_(torch.eye(E, dtype=torch.float64).repeat(3, 1))
    other.out_proj.load_state_dict(own.W_o.state_dict())
    inputs = [torch.randn(B, n, size).double() for n, size in ((L, QUERY), (S, KEY), (S, VALUE))]
    projected = [project(x) for project, x in zip(maps, inputs, strict=True)]

    positions = torch.arange(S)
    name = "MultiheadAttention with biases" if bias else "MultiheadAttention"
    yield name, own(*inputs), other(*projected)[0]
    yield (
        f"{name}, lengths of items",
        own(*inputs, lens),
        other(*projected, key_padding_mask=positions >= lens[:, None])[0],
    )
    beyond = (positions >= of_queries[..., None]).repeat_interleave(H, 0)  # (B·H, L, S)
    yield (
        f"{name}, lengths of queries",
        own(*inputs, of_queries),
        other(*projected, attn_mask=beyond)[0],
    )
