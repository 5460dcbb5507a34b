# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    wrong = torch.zeros(5, 13).to_sparse_csr()
    return wrong, wrong
