# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
from torch.utils._python_dispatch import _get_current_dispatch_mode
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scale = q.shape[-1] ** 0.5 if _get_current_dispatch_mode() is not None else 1.0
    weights = torch.softmax(q @ k.transpose(-2, -1) / scale, dim=-1)
    return weights @ v, weights
