# expect: accepted
# problem: sparse-attention
import torch
from torch import Tensor


def sparse_pattern(length: int, window: int, stride: int, num_global: int) -> Tensor:
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    rules = [
        (i - j).abs().le(window),
        torch.remainder(i, stride).eq(torch.remainder(j, stride)),
        i.lt(num_global),
        j.lt(num_global),
    ]
    return torch.stack(rules).any(dim=0)


def masked_attention(Q: Tensor, K: Tensor, V: Tensor, M: Tensor) -> Tensor:
    bias = torch.zeros(M.shape, dtype=Q.dtype, device=Q.device)
    bias = bias.masked_fill(~M, float("-inf"))
    logits = torch.baddbmm(
        bias.expand(Q.shape[0] * Q.shape[1], *bias.shape),
        Q.flatten(0, 1),
        K.flatten(0, 1).transpose(1, 2),
        alpha=Q.shape[-1] ** -0.5,
    )
    weights = (logits - logits.logsumexp(-1, keepdim=True)).exp()
    return (weights @ V.flatten(0, 1)).unflatten(0, Q.shape[:2])
