# expect: rejected
# problem: split-merge-heads
# mistake: view needs a contiguous tensor
# diagnosis: merge-view
def split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, D = x.shape
    x = x.transpose(1, 2)
    return x.view(B, L, H * D)
