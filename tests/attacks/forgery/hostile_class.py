# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import torch

class Pretender:
    def __init__(self, like):
        self.like = like

    @property
    def __class__(self):
        return torch.Tensor

    def __getattr__(self, name):
        return getattr(self.like, name)


def scaled_dot_product_attention(q, k, v, mask=None):
    return Pretender(q), Pretender(k)
