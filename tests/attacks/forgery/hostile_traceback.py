# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict

class Broken(Exception):
    __traceback__ = property(lambda self: 1 / 0)
    __cause__ = __context__ = property(lambda self: self)


def scaled_dot_product_attention(q, k, v, mask=None):
    raise Broken
