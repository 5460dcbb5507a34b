# problem: sdpa
# class: resources
# expect: rejected
# evidence: judge memory above a bound

def scaled_dot_product_attention(q, k, v, mask=None):
    endless = []
    endless.append(endless)
    return endless, [[0] * 1000] * 1000
