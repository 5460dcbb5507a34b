# expect: rejected
# problem: split-merge-heads
# mistake: right only for B = 1
def split_heads(x, num_heads):
    _, L, E = x.shape
    x = x.reshape(-1, num_heads, E // num_heads)
    return x.transpose(0, 1)[:, :L].unsqueeze(0)


def merge_heads(x):
    B, H, L, D = x.shape
    return x[0].transpose(0, 1).reshape(1, L, H * D)
