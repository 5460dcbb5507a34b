# expect: rejected
# problem: split-merge-heads
# mistake: rearranges the caller's tensor
# diagnosis: merge-transposes-in-place
def split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, D = x.shape
    x.transpose_(1, 2)
    return x.reshape(B, L, H * D)
