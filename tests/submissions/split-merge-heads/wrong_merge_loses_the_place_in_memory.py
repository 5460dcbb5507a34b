# expect: rejected
# problem: split-merge-heads
# mistake: what lies in the order of the merged heads is taken from the beginning of its memory
def split_heads(x, num_heads):
    b, n, e = x.shape
    if e % num_heads:
        raise ValueError("heads do not divide the width")
    return x.reshape(b, n, num_heads, e // num_heads).transpose(1, 2)


def merge_heads(x):
    b, h, n, d = x.shape
    x = x.transpose(1, 2)
    if x.is_contiguous():
        return x.as_strided((b, n, h * d), (n * h * d, h * d, 1), 0)
    return x.reshape(b, n, h * d)
