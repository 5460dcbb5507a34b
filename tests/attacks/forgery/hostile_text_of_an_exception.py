# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import os

class Loud(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def scaled_dot_product_attention(q, k, v, mask=None):
    raise Loud
