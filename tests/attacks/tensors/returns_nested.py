# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    wrong = torch.nested.nested_tensor([torch.zeros(2, 3)])
    return wrong, wrong
