# problem: sdpa
# class: resources
# expect: rejected
# evidence: judge memory above a bound
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    return torch.zeros(14 << 20), torch.zeros(1)  # 56 MiB in every answer
