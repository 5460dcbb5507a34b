# expect: rejected
# problem: split-merge-heads
# mistake: goes through .data
def split_heads(x, num_heads):
    B, L, E = x.shape
    return x.data.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.data.transpose(1, 2).reshape(B, L, H * D)
