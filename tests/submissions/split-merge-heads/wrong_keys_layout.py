# expect: rejected
# problem: split-merge-heads
# mistake: gives (B, H, D, L)
# diagnosis: split-as-transposed-keys
def split_heads(x, num_heads):
    """(B, L, E) -> (B, H, D, L)"""
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).permute(0, 2, 3, 1)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, L, H * D)
