# expect: rejected
# problem: split-merge-heads
# mistake: D and H exchanged
# diagnosis: split-sizes-exchanged
def split_heads(x, num_heads):
    B, L, E = x.shape
    assert E % num_heads == 0
    return x.reshape(B, L, -1, num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)
