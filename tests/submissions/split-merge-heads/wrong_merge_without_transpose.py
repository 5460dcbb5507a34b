# expect: rejected
# problem: split-merge-heads
# mistake: heads and positions mixed in merge
# diagnosis: merge-without-transpose
def split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.contiguous().view(B, L, H * D)
