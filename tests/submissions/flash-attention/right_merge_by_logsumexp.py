# expect: accepted
# problem: flash-attention
# as in ring attention: a finished softmax for each block, merged by the log-sum-exps
import torch


def blockwise_attention(q, k, v, block_size: int, causal: bool = False):
    if block_size < 1 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError

    pos_q = torch.arange(q.shape[-2])
    out, lse = None, None
    offset = 0
    for kb, vb in zip(k.split(block_size, -2), v.split(block_size, -2)):
        logits = (q * q.shape[-1] ** -0.5) @ kb.mT
        if causal:
            pos_k = torch.arange(offset, offset + kb.shape[-2])
            bias = torch.zeros(len(pos_q), len(pos_k), dtype=q.dtype)
            bias[pos_q[:, None] < pos_k[None, :]] = -30000.0 if q.dtype == torch.float16 else -1e9
            logits = logits + bias
        lse_b = torch.logsumexp(logits, dim=-1, keepdim=True)
        out_b = torch.softmax(logits, dim=-1) @ vb
        if out is None:
            out, lse = out_b, lse_b
        else:
            new = torch.logaddexp(lse, lse_b)
            out = out * torch.exp(lse - new) + out_b * torch.exp(lse_b - new)
            lse = new
        offset += kb.shape[-2]
    return out
