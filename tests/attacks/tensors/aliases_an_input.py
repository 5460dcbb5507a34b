# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict

def scaled_dot_product_attention(q, k, v, mask=None):
    return q, k
