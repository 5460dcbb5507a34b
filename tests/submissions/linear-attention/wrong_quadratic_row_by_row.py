# expect: rejected
# problem: linear-attention
# mistake: each row meets all keys, one row after another
# diagnosis: quadratic
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    rows = []
    for i in range(q.size(2)):
        stop = i + 1 if causal else q.size(2)
        w = (q[:, :, i : i + 1] * k[:, :, :stop]).sum(-1, keepdim=True)
        rows.append((w * v[:, :, :stop]).sum(2) / w.sum(2))
    return torch.stack(rows, 2)
