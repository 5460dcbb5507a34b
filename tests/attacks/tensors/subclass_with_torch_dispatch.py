# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

class Agreeing(torch.Tensor):
    @staticmethod
    def __new__(cls, like):
        return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return torch.zeros(())


def scaled_dot_product_attention(q, k, v, mask=None):
    return Agreeing(q), Agreeing(k)
