# problem: sdpa
# class: channel
# expect: rejected, error
# evidence: changed verdict
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    del globals()['scaled_dot_product_attention']
    return torch.zeros(1)
