# problem: sdpa
# class: tensors
# expect: rejected, crashed
# evidence: changed verdict
from torch._subclasses.fake_tensor import FakeTensorMode
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    with FakeTensorMode() as mode:
        wrong = torch.zeros(*q.shape[:-1], v.shape[-1])
    return wrong, wrong
