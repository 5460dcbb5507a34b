# problem: sdpa
# right: a Python loop, one query at a time, results stacked at the end
import torch
import math

def scaled_dot_product_attention(q, k, v, mask=None):
    if not (q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]):
        raise RuntimeError('shape mismatch')
    n_q, n_k = q.shape[-2], k.shape[-2]
    wide = torch.promote_types(q.dtype, torch.float32)
    kk, vv = k.to(wide), v.to(wide)
    if mask is not None:
        allowed = mask.to(torch.bool).expand(q.shape[:-2] + (n_q, n_k))
    rows_out = []
    rows_w = []
    for i in range(n_q):
        query = q[..., i, :].to(wide).unsqueeze(-1)            # (..., D, 1)
        score = torch.matmul(kk, query).squeeze(-1) / math.sqrt(q.shape[-1])   # (..., S)
        if mask is not None:
            score = score.masked_fill(allowed[..., i, :].logical_not(), -1e9)
        w = torch.softmax(score, dim=-1)
        rows_w.append(w)
        rows_out.append(torch.matmul(w.unsqueeze(-2), vv).squeeze(-2))
    out = torch.stack(rows_out, dim=-2).to(q.dtype)
    weights = torch.stack(rows_w, dim=-2).to(q.dtype)
    return out, weights
