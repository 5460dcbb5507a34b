# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
import os

def scaled_dot_product_attention(q, k, v, mask=None):
    os._exit(0)
