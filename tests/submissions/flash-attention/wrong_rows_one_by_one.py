# expect: rejected
# problem: flash-attention
# mistake: a loop over single queries, block_size never used
import torch


def flash_attention(q, k, v, block_size, causal=False):
    assert block_size > 0 and k.shape[-2] == v.shape[-2]
    rows = []
    for i in range(q.shape[-2]):
        n = i + 1 if causal else k.shape[-2]
        s = (k[..., :n, :] @ q[..., i, :, None]).squeeze(-1) / q.shape[-1] ** 0.5
        w = torch.exp(s - s.amax(-1, keepdim=True))
        w = w / w.sum(-1, keepdim=True)
        rows.append((w[..., None, :] @ v[..., :n, :]).squeeze(-2))
    return torch.stack(rows, -2)
