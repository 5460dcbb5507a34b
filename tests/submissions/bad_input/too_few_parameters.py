# expect: rejected
# problem: sdpa
def scaled_dot_product_attention(q, k):
    return q @ k.transpose(-2, -1)
