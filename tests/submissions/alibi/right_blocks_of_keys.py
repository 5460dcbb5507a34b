# expect: accepted
# problem: alibi
import torch
from torch import Tensor

BLOCK = 128


def head_slopes(num_heads: int) -> Tensor:
    def power(n: int) -> Tensor:
        return torch.full((n,), 2 ** (-8 / n), dtype=torch.float64).cumprod(0)

    lower = 1 << (num_heads.bit_length() - 1)
    return torch.cat([power(lower), power(2 * lower)[::2]])[:num_heads].to(torch.float32)


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor, causal: bool = True) -> Tensor:
    """Online softmax over blocks of keys; the bias of a block is made from its indices."""
    L, S = q.shape[-2], k.shape[-2]
    if q.shape[-1] != k.shape[-1] or v.shape[-2] != S or L > S or q.shape[1] != slopes.numel():
        raise ValueError("bad sizes")
    rate = slopes[None, :, None, None]
    query = torch.arange(S - L, S, device=q.device)[:, None]
    best = torch.full_like(q[..., :1], float("-inf"))
    total = torch.zeros_like(best)
    mixed = torch.zeros_like(q[..., :1]) * v[:, :, :1]
    for begin in range(0, S, BLOCK):
        key = torch.arange(begin, min(begin + BLOCK, S), device=q.device)
        part = q @ k[..., begin : begin + BLOCK, :].mT * q.shape[-1] ** -0.5
        part = part - rate * (query - key).abs()
        if causal:
            part = part.masked_fill(key > query, float("-inf"))
        new = torch.maximum(best, part.detach().amax(-1, keepdim=True))
        safe = torch.where(new == float("-inf"), torch.zeros_like(new), new)
        shrink, e = torch.exp(best - safe), torch.exp(part - safe)
        total = total * shrink + e.sum(-1, keepdim=True)
        mixed = mixed * shrink + e @ v[..., begin : begin + BLOCK, :]
        best = new
    return mixed / total
