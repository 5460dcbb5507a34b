# expect: rejected
# problem: split-merge-heads
# mistake: through float32
def split_heads(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError
    return x.float().reshape(batch, length, num_heads, -1).transpose(1, 2).to(x.dtype)


def merge_heads(x):
    batch, heads, length, size = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * size)
