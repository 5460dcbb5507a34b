# expect: rejected
# problem: linear-attention
# mistake: a float32 state, so other dtypes raise
import torch


def linear_attention(q, k, v, causal=False):
    q, k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
    if not causal:
        return q @ (k.mT @ v) / (q @ k.sum(2).unsqueeze(-1))
    s, z = torch.zeros(q.shape[0], q.shape[1], q.shape[3], v.shape[3]), 0
    out = torch.zeros(q.shape)
    outs = []
    for i in range(q.shape[2]):
        s = s + k[:, :, i, :, None] * v[:, :, i, None, :]
        z = z + k[:, :, i]
        outs.append(torch.einsum("bhd,bhde->bhe", q[:, :, i], s) / (q[:, :, i] * z).sum(-1, True))
    return torch.stack(outs, 2)
