# expect: rejected
# problem: split-merge-heads
# mistake: one view straight to (B, H, L, D), and back
# diagnosis: split-without-transpose
def split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, num_heads, L, E // num_heads)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)
