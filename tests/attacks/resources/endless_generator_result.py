# problem: sdpa
# class: resources
# expect: rejected
# evidence: changed verdict
import itertools
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    return itertools.count(), itertools.repeat(torch.zeros(1))
