# expect: accepted
# problem: sliding-window
import torch


def banded_attention(q, k, v, window, return_weights=False):
    b, h, n, d = q.size()
    idx = torch.arange(n)[:, None] - torch.arange(window)[None, :]  # newest key first
    valid = idx.ge(0)
    flat = idx.clamp_min(0).reshape(-1)
    kk = torch.index_select(k, 2, flat).view(b, h, n, window, d)
    vv = torch.index_select(v, 2, flat).view(b, h, n, window, d)
    logits = q.unsqueeze(3).mul(kk).sum(4).div(d**0.5)
    logits = logits.where(valid, logits.new_tensor(-1e30))
    logits = logits - logits.amax(-1, keepdim=True)
    e = logits.exp() * valid
    p = e / e.sum(-1, keepdim=True)
    out = p.unsqueeze(-1).mul(vv).sum(3)
    return (out, p) if return_weights else out
