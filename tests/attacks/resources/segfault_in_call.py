# problem: sdpa
# class: resources
# expect: rejected
# evidence: next submission disturbed
import ctypes

def scaled_dot_product_attention(q, k, v, mask=None):
    ctypes.memset(8, 0, 1 << 20)
