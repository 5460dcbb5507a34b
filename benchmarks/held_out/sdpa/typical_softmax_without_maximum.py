# problem: sdpa
# wrong: scores of 10 000 give finite and right results; here exp is taken without subtracting the maximum (and so nan from a score of 89 on)
import math
import torch

def softmax(x):
    e = torch.exp(x)
    return e / e.sum(dim=-1, keepdim=True)

def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = softmax(s)
    return w @ v, w
