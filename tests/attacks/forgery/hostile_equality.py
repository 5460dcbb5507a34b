# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import torch

class Equal:
    shape = (2, 3, 5, 13)
    dtype = torch.float32

    def __eq__(self, other):
        return True

    def __le__(self, other):
        return True

    __lt__ = __ge__ = __gt__ = __bool__ = __le__
    __hash__ = None

    def __sub__(self, other):
        return self

    def __getattr__(self, name):
        return lambda *a, **k: self


def scaled_dot_product_attention(q, k, v, mask=None):
    return Equal(), Equal()
