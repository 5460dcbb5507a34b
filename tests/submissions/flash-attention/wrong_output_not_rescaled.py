# expect: rejected
# problem: flash-attention
# mistake: acc keeps its old maximum
# diagnosis: accumulator-not-rescaled
import torch


def online_attention(Q, K, V, B, causal=False):
    if B < 1 or K.shape[-2] != V.shape[-2]:
        raise ValueError("bad arguments")
    rows = torch.arange(Q.shape[-2]).reshape(-1, 1)
    acc, z, mx = 0, 0, torch.tensor(float("-inf"), dtype=Q.dtype)
    for b in range(0, K.shape[-2], B):
        t = torch.einsum("...qd,...kd->...qk", Q, K[..., b : b + B, :]) * Q.shape[-1] ** -0.5
        if causal:
            t = torch.where(rows < torch.arange(b, b + t.shape[-1]), -torch.inf, t)
        new = torch.maximum(mx, t.amax(-1, True))
        e = torch.exp(t - new)
        z = z * torch.exp(mx - new) + e.sum(-1, True)
        acc = acc + e @ V[..., b : b + B, :]
        mx = new
    return acc / z
