# expect: rejected
# problem: split-merge-heads
# mistake: merge through float32
def split_heads(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError
    return x.reshape(batch, length, num_heads, -1).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, size = x.shape
    return x.float().transpose(1, 2).reshape(batch, length, heads * size).to(x.dtype)
