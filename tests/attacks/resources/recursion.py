# problem: sdpa
# class: resources
# expect: rejected
# evidence: changed verdict

def scaled_dot_product_attention(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v, mask)
