# problem: sdpa
# right: softmax written out with exp and amax, half precision goes through float32 and comes back
import math
import torch

def _softmax(x):
    # largest entry of each row off first -> no overflow
    top = x.amax(-1, keepdim=True).detach()
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = (x - top).exp()
    z = e.sum(-1, keepdim=True)
    return e / torch.where(z == 0, torch.ones_like(z), z)

def scaled_dot_product_attention(q, k, v, mask=None):
    orig = q.dtype
    if orig in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    s = q @ k.mT
    s = s / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask.eq(0), float('-inf'))   # a row of -inf becomes zeros above
    p = _softmax(s)
    return (p @ v).to(orig), p.to(orig)
