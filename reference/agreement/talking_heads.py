"""The reference against the paper's einsums, PyTorch's attention, and sums over single heads."""

import math

import torch
from reference.talking_heads import TalkingHeadsAttention
from torch import nn


def cases():
    """Yield a name, the reference's output and that of another, (B, L, E) in float64."""
    own = TalkingHeadsAttention(33, 3).double()
    x = torch.randn(2, 7, 33, dtype=torch.float64)
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    per_head = torch.rand(2, 3, 7, 7) < 0.6
    per_head |= torch.eye(7, dtype=torch.bool)

    yield "einsums as in the paper", own(x)[0], _einsums(own, x)
    yield "single heads", own(x, per_head)[0], _by_hand(own, x, per_head)

    for talking in (own.p_l, own.p_w):
        talking.weight.copy_(torch.eye(3))
    other = nn.MultiheadAttention(33, 3, batch_first=True, dtype=torch.float64)
    maps = (own.q_proj, own.k_proj, own.v_proj)
    other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    other.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    other.out_proj.load_state_dict(own.out_proj.state_dict())
    yield "MultiheadAttention, if no head talks", own(x)[0], other(x, x, x)[0]
    # There a mask says what is blocked.
    yield (
        "MultiheadAttention with attn_mask, if no head talks",
        own(x, causal)[0],
        other(x, x, x, attn_mask=~causal)[0],
    )


def _einsums(layer, x):
    """Return the output by the paper's pseudocode; its P are (from head, to head)."""
    q, k, v = (m(x).unflatten(-1, (3, 11)) for m in (layer.q_proj, layer.k_proj, layer.v_proj))
    logits = torch.einsum("bnhk,bmhk->bnmh", q / math.sqrt(11), k)
    logits = torch.einsum("bnmg,gh->bnmh", logits, layer.p_l.weight.T)
    weights = torch.softmax(logits, dim=2)
    weights = torch.einsum("bnmg,gh->bnmh", weights, layer.p_w.weight.T)
    return layer.out_proj(torch.einsum("bnmh,bmhd->bnhd", weights, v).flatten(2))


def _by_hand(layer, x, mask):
    """Return the output from matrices (L, L) of single heads, mixed by sums over the heads."""
    items = []
    for b in range(x.shape[0]):
        q, k, v = (m(x[b]).split(11, -1) for m in (layer.q_proj, layer.k_proj, layer.v_proj))
        scores = [q[h] @ k[h].T / math.sqrt(11) for h in range(3)]
        weights = []
        for h, row in enumerate(layer.p_l.weight.tolist()):
            mixed = sum(share * score for share, score in zip(row, scores, strict=True))
            open_ = mixed.exp() * mask[b, h]
            weights.append(open_ / open_.sum(-1, keepdim=True))
        heads = [
            sum(share * weight for share, weight in zip(row, weights, strict=True)) @ v[h]
            for h, row in enumerate(layer.p_w.weight.tolist())
        ]
        items.append(layer.out_proj(torch.cat(heads, -1)))
    return torch.stack(items)
