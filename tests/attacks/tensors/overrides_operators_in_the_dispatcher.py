# problem: sdpa
# class: tensors
# expect: rejected, error, crashed
# evidence: next submission disturbed
import torch

LIBRARY = torch.library.Library('aten', 'IMPL')
LIBRARY.impl('mm', lambda a, b: a, 'CPU')
LIBRARY.impl('bmm', lambda a, b: a, 'CPU')


def scaled_dot_product_attention(q, k, v, mask=None):
    return q @ k.transpose(-2, -1) @ v, q
