# expect: accepted
# problem: split-merge-heads
def split_heads(x, num_heads):
    B, L, _ = x.shape
    return x.reshape(B, L, num_heads, -1).movedim(2, 1)

def merge_heads(x):
    B, _, L, _ = x.shape
    return x.movedim(1, 2).reshape(B, L, -1)
