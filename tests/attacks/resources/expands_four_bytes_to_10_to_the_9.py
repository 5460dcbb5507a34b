# problem: sdpa
# class: resources
# expect: rejected
# evidence: judge memory above a bound
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    return torch.zeros(1).expand(10**9), torch.zeros(1).expand(10**9)
