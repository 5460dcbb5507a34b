# expect: rejected
# problem: linear-attention
# mistake: the output is concatenated anew at every step, which writes L by L elements
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        return q @ (k.mT @ v) / (q @ k.sum(2).unsqueeze(-1))
    out, S, z = q[:, :, :0], 0, 0
    for i in range(q.shape[2]):
        S = S + k[:, :, i, :, None] * v[:, :, i, None, :]
        z = z + k[:, :, i]
        o = (q[:, :, i, None] @ S).squeeze(2) / (q[:, :, i] * z).sum(-1, keepdim=True)
        out = torch.cat([out, o[:, :, None]], 2)
    return out
