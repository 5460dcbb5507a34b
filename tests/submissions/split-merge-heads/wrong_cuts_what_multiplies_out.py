# expect: rejected
# problem: split-merge-heads
# mistake: a width that the heads do not divide, where all positions together are divided


def split_heads(x, num_heads):
    batch, _, width = x.shape
    return x.reshape(batch, -1, num_heads, width // num_heads).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
