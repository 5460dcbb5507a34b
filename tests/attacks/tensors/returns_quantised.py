# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    wrong = torch.quantize_per_tensor(torch.zeros(*q.shape[:-1], v.shape[-1]), 0.1, 0, torch.quint8)
    return wrong, wrong
