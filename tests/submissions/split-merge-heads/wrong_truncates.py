# expect: rejected
# problem: split-merge-heads
# mistake: drops features that do not fill a head
# diagnosis: split-truncates
def split_heads(x, num_heads):
    B, L, E = x.shape
    D = E // num_heads
    x = x[:, :, : num_heads * D]
    return x.reshape(B, L, num_heads, D).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
