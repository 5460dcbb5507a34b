# expect: accepted
# problem: linear-attention
import torch


def linear_attention(q, k, v, causal=False):
    if q.size(-1) != k.size(-1):
        raise ValueError("width")
    fq, fk = (torch.nn.functional.elu(t) + 1 for t in (q, k))
    run = (lambda t: t.cumsum(-2)) if causal else (lambda t: t.sum(-2, keepdim=True))
    top, bottom = 0, 0
    for d in range(q.size(-1)):
        a, b = fq[..., d : d + 1], fk[..., d : d + 1]
        top = top + a * run(b * v)
        bottom = bottom + a * run(b)
    return top / bottom
