# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

class Own(torch.nn.Parameter):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return torch.tensor(True)


def scaled_dot_product_attention(q, k, v, mask=None):
    return Own(torch.zeros(1)), Own(torch.zeros(1))
