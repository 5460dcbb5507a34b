# expect: accepted
# problem: split-merge-heads
def split_heads(x, num_heads):
    B, L, E = x.shape
    assert E % num_heads == 0
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).contiguous().view(B, L, H * D)
