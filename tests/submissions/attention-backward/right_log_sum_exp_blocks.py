# expect: accepted
# problem: attention-backward
"""Block by block over the keys, as a fused kernel does it: weights again from the log-sum-exp."""

import math

import torch

BLOCK = 4


@torch.no_grad()
def sdpa_backward(q, k, v, do):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("shapes")
    if do.shape != q.shape[:-1] + v.shape[-1:]:
        raise ValueError("shapes")
    dtype = q.dtype
    if dtype in (torch.bfloat16, torch.float16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    c = 1.0 / math.sqrt(q.shape[-1])
    lse = torch.logsumexp(q @ k.transpose(-1, -2) * c, dim=-1, keepdim=True)
    out = torch.zeros_like(do)
    starts = range(0, k.shape[-2], BLOCK)
    for j in starts:
        out += torch.exp(q @ k[..., j : j + BLOCK, :].transpose(-1, -2) * c - lse) @ v[..., j : j + BLOCK, :]
    delta = (do * out).sum(-1, keepdim=True)
    dq, dks, dvs = torch.zeros_like(q), [], []
    for j in starts:
        kj, vj = k[..., j : j + BLOCK, :], v[..., j : j + BLOCK, :]
        p = torch.exp(q @ kj.transpose(-1, -2) * c - lse)
        ds = p * (do @ vj.transpose(-1, -2) - delta) * c
        dvs.append(p.transpose(-1, -2) @ do)
        dks.append(ds.transpose(-1, -2) @ q)
        dq += ds @ kj
    return dq.to(dtype), torch.cat(dks, -2).to(dtype), torch.cat(dvs, -2).to(dtype)
