# problem: sdpa
# class: resources
# expect: rejected
# evidence: judge memory above a bound
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    return weights @ v, weights, torch.zeros(14 << 20)
