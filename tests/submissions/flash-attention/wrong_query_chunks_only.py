# expect: rejected
# problem: flash-attention
# mistake: chunks the queries, every chunk sees all keys
# diagnosis: blocks-of-queries
import torch


def chunked_attention(q, k, v, chunk_size, causal=False):
    if chunk_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    kt = k.transpose(-2, -1)
    cols = torch.arange(k.shape[-2])
    outs = []
    i = 0
    for qc in q.split(chunk_size, dim=-2):
        w = qc @ kt * q.shape[-1] ** -0.5
        if causal:
            rows = torch.arange(i, i + qc.shape[-2])
            w = w.masked_fill(cols[None] > rows[:, None], -float("inf"))
        outs.append(w.softmax(-1) @ v)
        i += qc.shape[-2]
    return torch.cat(outs, -2)
