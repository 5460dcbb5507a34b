# problem: sdpa
# wrong: each row of weights sums to 1 over the keys; here the softmax is taken over axis 1, the heads, in every 4-D call
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    dk = k.size()[-1]
    a = torch.matmul(q, k.transpose(-1, -2)) / dk ** 0.5
    if mask is not None:
        a = a.masked_fill(mask == 0, -1e9)
    a = torch.softmax(a, dim=1)
    return torch.matmul(a, v), a
