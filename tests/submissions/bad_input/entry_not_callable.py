# expect: error
# problem: sdpa
scaled_dot_product_attention = 3
