# expect: rejected
# problem: linear-attention
# mistake: the state is read before the position's own key is added
# diagnosis: itself-left-out
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        return q @ (k.transpose(-2, -1) @ v) / (q * k.sum(2, keepdim=True)).sum(-1, keepdim=True)
    s = torch.zeros(*q.shape[:2], q.shape[3], q.shape[3], dtype=q.dtype)
    z = torch.zeros(*q.shape[:2], q.shape[3], dtype=q.dtype)
    out = []
    for t in range(q.shape[2]):
        qt, kt, vt = q[:, :, t], k[:, :, t], v[:, :, t]
        out.append((qt.unsqueeze(-2) @ s).squeeze(-2) / (qt * z).sum(-1, keepdim=True))
        s = s + kt.unsqueeze(-1) @ vt.unsqueeze(-2)
        z = z + kt
    return torch.stack(out, 2)
