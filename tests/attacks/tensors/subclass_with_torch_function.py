# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import torch

class Agreeing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, '__name__', '') in ('allclose', 'equal', 'eq', '__eq__', 'isclose', 'all'):
            return torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {})


def scaled_dot_product_attention(q, k, v, mask=None):
    return torch.zeros(*q.shape[:-1], v.shape[-1]).as_subclass(Agreeing), torch.zeros(*q.shape[:-1], k.shape[-2]).as_subclass(Agreeing)
