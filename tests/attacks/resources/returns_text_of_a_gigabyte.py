# problem: sdpa
# class: resources
# expect: rejected, error, crashed
# evidence: judge memory above a bound

def scaled_dot_product_attention(q, k, v, mask=None):
    return 'x' * (1 << 29), 1 << (1 << 24)
