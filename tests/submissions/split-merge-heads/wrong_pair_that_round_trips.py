# expect: rejected
# problem: split-merge-heads
# mistake: both functions reshape without transposing
def split_heads(x, num_heads):
    b, l, e = x.shape
    return x.reshape(b, num_heads, l, e // num_heads)


def merge_heads(x):
    b, h, l, d = x.shape
    return x.reshape(b, l, h * d)
