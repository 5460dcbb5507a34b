# problem: sdpa
# class: resources
# expect: rejected
# evidence: changed verdict
# limits: short

def scaled_dot_product_attention(q, k, v, mask=None):
    while True:
        pass
