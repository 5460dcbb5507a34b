# expect: rejected
# problem: split-merge-heads
# mistake: transposes axes 0 and 1
# diagnosis: merge-swaps-batch-and-heads
def split_heads(x, num_heads):
    # 拆分多头
    return x.unflatten(2, (num_heads, -1)).transpose(1, 2)


def merge_heads(x):
    # 合并多头：转置写错了轴
    B, H, L, D = x.shape
    return x.transpose(0, 1).reshape(B, L, H * D)
