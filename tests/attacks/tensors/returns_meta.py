# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    wrong = torch.empty(*q.shape[:-1], v.shape[-1], device='meta')
    return wrong, wrong
