# expect: rejected
# problem: split-merge-heads
# mistake: leaves (B, L, H, D)
# diagnosis: split-stops-before-transpose
def split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)
