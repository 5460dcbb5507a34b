# problem: sdpa
# class: tensors
# expect: rejected
# evidence: next submission disturbed
import torch

torch.softmax = lambda *a, **k: torch.zeros(1)
torch.Tensor.softmax = torch.nn.functional.softmax = torch.softmax
torch.Tensor.__matmul__ = lambda a, b: a
torch.float32 = torch.float64


def scaled_dot_product_attention(q, k, v, mask=None):
    return torch.softmax(q @ k), q
