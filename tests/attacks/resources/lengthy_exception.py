# problem: sdpa
# class: resources
# expect: rejected
# evidence: judge memory above a bound

def scaled_dot_product_attention(q, k, v, mask=None):
    raise ValueError('x' * (1 << 26))
