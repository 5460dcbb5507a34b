# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    wrong = torch.full((*q.shape[:-1], v.shape[-1]), float('nan'), dtype=q.dtype)
    return wrong, wrong
