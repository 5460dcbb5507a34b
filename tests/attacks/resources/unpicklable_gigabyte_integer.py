# problem: sdpa
# class: resources
# expect: rejected, timeout, error, crashed
# evidence: changed verdict
# limits: short

def scaled_dot_product_attention(q, k, v, mask=None):
    return 7 ** (7 ** 9)
