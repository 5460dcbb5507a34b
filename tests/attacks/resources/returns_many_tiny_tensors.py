# problem: sdpa
# class: resources
# expect: rejected, error, crashed
# evidence: judge memory above a bound
# limits: short
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    return [torch.zeros(0) for _ in range(19_000)]
