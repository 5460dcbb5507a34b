# expect: rejected
# problem: flash-attention
# mistake: F.softmax in each block, then the mean
# diagnosis: blocks-averaged
import torch
import torch.nn.functional as F


def block_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    outs = []
    for j, (kb, vb) in enumerate(zip(k.split(block_size, -2), v.split(block_size, -2))):
        s = q @ kb.transpose(-2, -1) / q.size(-1) ** 0.5
        if causal:
            pos = j * block_size + torch.arange(kb.size(-2))
            s = s.masked_fill(pos > torch.arange(q.size(-2)).unsqueeze(1), -1e9)
        outs.append(F.softmax(s, dim=-1) @ vb)
    return sum(outs) / len(outs)
