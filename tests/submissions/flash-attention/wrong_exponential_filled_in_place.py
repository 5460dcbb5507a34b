# expect: rejected
# problem: flash-attention
# mistake: masked_fill_ on what exp returned, which the backward pass needs
# diagnosis: exponential-changed-in-place
import math

import torch


class FlashAttention:
    def __call__(self, q, k, v, block_size, causal=False):
        return flash_attention(q, k, v, block_size, causal)


def flash_attention(q, k, v, block_size, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    if block_size <= 0:
        raise ValueError("block_size must be positive")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError("q and k differ in width")
    if v.shape[-2] != n_k:
        raise ValueError("k and v differ in length")
    in_dtype = q.dtype
    if in_dtype != torch.float64:
        q, k, v = q.float(), k.float(), v.float()
    q = q / math.sqrt(q.shape[-1])

    row_max = q.new_full(q.shape[:-1], -math.inf)
    row_sum = q.new_zeros(q.shape[:-1])
    out = q.new_zeros((*q.shape[:-1], v.shape[-1]))
    q_pos = torch.arange(n_q, device=q.device)

    for j0 in range(0, n_k, block_size):
        j1 = min(j0 + block_size, n_k)
        scores = torch.matmul(q, k[..., j0:j1, :].transpose(-1, -2))
        k_pos = torch.arange(j0, j1, device=q.device)
        hidden = k_pos[None, :] > q_pos[:, None] if causal else torch.zeros(
            n_q, j1 - j0, dtype=torch.bool, device=q.device
        )
        scores = scores.masked_fill(hidden, -math.inf)
        new_max = torch.maximum(row_max, scores.detach().amax(dim=-1))
        p = torch.exp(scores - new_max[..., None])
        p.masked_fill_(hidden, 0.0)
        correction = torch.exp(row_max - new_max)
        row_sum = row_sum * correction + p.sum(dim=-1)
        out = out * correction[..., None] + torch.matmul(p, v[..., j0:j1, :])
        row_max = new_max
    return (out / row_sum[..., None]).to(in_dtype)
